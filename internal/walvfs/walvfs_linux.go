package walvfs

import (
	"sync"
	"unsafe"

	"modernc.org/libc"
	lib "modernc.org/sqlite/lib"
)

// room is how much of a log is gathered: the pages of a common append, and no more than
// memory is a good place for.
const room = 128 << 10

// file is what the layer knows of a database or a log. It lies behind what SQLite's own
// layer knows.
type file struct {
	own uintptr // what SQLite's own layer does with the file
	log uintptr // of a database its log, of a log its database

	gathered uintptr // of a log: memory for what was written
	n        int32   // how much that is
	at       int64   // where in the log it belongs
}

// The functions of a layer, as SQLite calls them (https://sqlite.org/c3ref/io_methods.html).
type (
	openFunc    = func(tls *libc.TLS, vfs, name, file uintptr, flags int32, out uintptr) int32
	closeFunc   = func(tls *libc.TLS, file uintptr) int32
	ioFunc      = func(tls *libc.TLS, file, buf uintptr, n int32, at int64) int32
	sizeFunc    = func(tls *libc.TLS, file uintptr, size int64) int32
	syncFunc    = func(tls *libc.TLS, file uintptr, flags int32) int32
	askFunc     = func(tls *libc.TLS, file, size uintptr) int32
	barrierFunc = func(tls *libc.TLS, file uintptr)
)

// own is SQLite's own layer, and where in the memory of an open file it ends.
var own struct {
	vfs, open uintptr
	size      int32
}

// Name is the name by which a connection is opened with the layer, the parameter vfs of
// its URI; it is empty where there is none.
var Name = sync.OnceValue(func() string {
	const name = "sessiondb-wal"
	tls := libc.NewTLS()
	defer tls.Close()
	below := lib.Xsqlite3_vfs_find(tls, 0)
	cname, err := libc.CString(name)
	made := libc.Xmalloc(tls, libc.Tsize_t(unsafe.Sizeof(lib.Tsqlite3_vfs{})))
	if below == 0 || err != nil || made == 0 {
		return ""
	}
	was, vfs := at[lib.Tsqlite3_vfs](below), at[lib.Tsqlite3_vfs](made)
	*vfs = *was
	own.vfs, own.open, own.size = below, was.FxOpen, (was.FszOsFile+7)&^7
	vfs.FpNext, vfs.FzName = 0, cname
	vfs.FszOsFile = own.size + int32(unsafe.Sizeof(file{}))
	vfs.FxOpen = pointer[openFunc](open)
	if lib.Xsqlite3_vfs_register(tls, made, 0) != lib.SQLITE_OK {
		return ""
	}
	return name
})

// at is what lies in memory of SQLite.
func at[T any](address uintptr) *T {
	return *(**T)(unsafe.Pointer(&address)) // #nosec G103 -- it is not Go's memory
}

// pointer and function turn a function into what SQLite calls, and back.
func pointer[F any](f F) uintptr {
	return *(*uintptr)(unsafe.Pointer(&f)) // #nosec G103 -- as the driver does
}

func function[F any](p uintptr) F {
	value := struct{ p uintptr }{p}
	return *(*F)(unsafe.Pointer(&value)) // #nosec G103 -- as the driver does
}

func known(f uintptr) *file {
	return at[file](f + uintptr(own.size)) // #nosec G115 -- a size of SQLite
}

func (f *file) methods() *lib.Tsqlite3_io_methods { return at[lib.Tsqlite3_io_methods](f.own) }

func open(tls *libc.TLS, _, name, f uintptr, flags int32, out uintptr) int32 {
	rc := function[openFunc](own.open)(tls, own.vfs, name, f, flags, out)
	if rc != lib.SQLITE_OK {
		return rc
	}
	methods := &at[lib.Tsqlite3_file](f).FpMethods
	switch {
	case flags&lib.SQLITE_OPEN_MAIN_DB != 0:
		*known(f) = file{own: *methods}
		*methods = over(tls, databases, *methods)
	case flags&lib.SQLITE_OPEN_WAL != 0:
		db, ours := lib.Xsqlite3_database_file_object(tls, name), over(tls, logs, *methods)
		gathered := libc.Xmalloc(tls, room)
		if db == 0 || gathered == 0 || ours == *methods {
			libc.Xfree(tls, gathered)
			return rc
		}
		*known(f) = file{own: *methods, log: db, gathered: gathered}
		known(db).log, *methods = f, ours
	}
	return rc
}

// methodTables is what the layer does with one kind of files, by what SQLite's own does
// with them.
type methodTables struct {
	made   sync.Map
	change func(*lib.Tsqlite3_io_methods)
}

var databases = &methodTables{change: func(m *lib.Tsqlite3_io_methods) {
	m.FxShmBarrier = pointer[barrierFunc](barrier)
}}

var logs = &methodTables{change: func(m *lib.Tsqlite3_io_methods) {
	m.FxClose, m.FxWrite = pointer[closeFunc](closeLog), pointer[ioFunc](write)
	m.FxRead, m.FxSync = pointer[ioFunc](read), pointer[syncFunc](syncLog)
	m.FxTruncate, m.FxFileSize = pointer[sizeFunc](truncate), pointer[askFunc](size)
}}

// over returns what the layer does with a file, or what SQLite's own does where there is
// no memory.
func over(tls *libc.TLS, tables *methodTables, methods uintptr) uintptr {
	if made, ok := tables.made.Load(methods); ok {
		return made.(uintptr)
	}
	made := libc.Xmalloc(tls, libc.Tsize_t(unsafe.Sizeof(lib.Tsqlite3_io_methods{})))
	if made == 0 {
		return methods
	}
	m := at[lib.Tsqlite3_io_methods](made)
	*m = *at[lib.Tsqlite3_io_methods](methods)
	tables.change(m)
	first, _ := tables.made.LoadOrStore(methods, made)
	return first.(uintptr)
}

// flush writes what was gathered. Where that fails it is gone, though SQLite was told that
// it was written: who writes through the layer must give the transaction up at the first
// such error, which is one of a full disk or of the system.
func flush(tls *libc.TLS, f uintptr) (*file, int32) {
	k := known(f)
	n := k.n
	if k.n = 0; n == 0 {
		return k, lib.SQLITE_OK
	}
	return k, function[ioFunc](k.methods().FxWrite)(tls, f, k.gathered, n, k.at)
}

func write(tls *libc.TLS, f, buf uintptr, n int32, off int64) int32 {
	k := known(f)
	if off != k.at+int64(k.n) || k.n+n > room {
		if _, rc := flush(tls, f); rc != lib.SQLITE_OK {
			return rc
		}
		k.at = off
	}
	if n > room {
		return function[ioFunc](k.methods().FxWrite)(tls, f, buf, n, off)
	}
	libc.Xmemcpy(tls, k.gathered+uintptr(k.n), buf, libc.Tsize_t(n)) // #nosec G115 -- at most room
	k.n += n
	return lib.SQLITE_OK
}

func read(tls *libc.TLS, f, buf uintptr, n int32, off int64) int32 {
	k, rc := flush(tls, f)
	if rc != lib.SQLITE_OK {
		return rc
	}
	return function[ioFunc](k.methods().FxRead)(tls, f, buf, n, off)
}

func syncLog(tls *libc.TLS, f uintptr, flags int32) int32 {
	k, rc := flush(tls, f)
	if rc != lib.SQLITE_OK {
		return rc
	}
	return function[syncFunc](k.methods().FxSync)(tls, f, flags)
}

func truncate(tls *libc.TLS, f uintptr, to int64) int32 {
	k, rc := flush(tls, f)
	if rc != lib.SQLITE_OK {
		return rc
	}
	return function[sizeFunc](k.methods().FxTruncate)(tls, f, to)
}

func size(tls *libc.TLS, f, out uintptr) int32 {
	k, rc := flush(tls, f)
	if rc != lib.SQLITE_OK {
		return rc
	}
	return function[askFunc](k.methods().FxFileSize)(tls, f, out)
}

func closeLog(tls *libc.TLS, f uintptr) int32 {
	k, rc := flush(tls, f)
	known(k.log).log = 0
	libc.Xfree(tls, k.gathered)
	if closed := function[closeFunc](k.methods().FxClose)(tls, f); rc == lib.SQLITE_OK {
		rc = closed
	}
	return rc
}

// barrier comes before a connection tells the others of what the log holds. A commit that
// syncs, as all here do, has written it by then.
func barrier(tls *libc.TLS, f uintptr) {
	k := known(f)
	if k.log != 0 {
		if _, rc := flush(tls, k.log); rc != lib.SQLITE_OK {
			panic("walvfs: a commit without a sync could not write the log: " + libc.GoString(lib.Xsqlite3_errstr(tls, rc)))
		}
	}
	function[barrierFunc](k.methods().FxShmBarrier)(tls, f)
}

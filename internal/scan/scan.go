// Package scan stores what a database returned in the variables of a caller.
package scan

import (
	"database/sql"
	"database/sql/driver"
	"fmt"
	"reflect"
)

// Assign stores a value of a driver in a target, as database/sql does.
func Assign(dest any, v driver.Value) error {
	switch d := dest.(type) {
	case sql.Scanner:
		return d.Scan(v)
	case *any:
		*d = v
		return nil
	case *[]byte:
		var n sql.Null[[]byte]
		err := n.Scan(v)
		*d = n.V
		return err
	case *string:
		if s, ok := v.(string); ok {
			*d = s
			return nil
		}
	case *int64:
		if n, ok := v.(int64); ok {
			*d = n
			return nil
		}
	case *float64:
		if f, ok := v.(float64); ok {
			*d = f
			return nil
		}
	}
	target := reflect.ValueOf(dest)
	if target.Kind() != reflect.Pointer || target.IsNil() {
		return fmt.Errorf("target %T is no pointer", dest)
	}
	return assignKind(target.Elem(), v)
}

// assignKind is Assign for any type made of a scalar or a pointer; a pointer
// becomes nil for NULL.
func assignKind(target reflect.Value, v driver.Value) (err error) {
	switch target.Kind() {
	case reflect.Pointer:
		target.SetZero()
		if v != nil {
			p := reflect.New(target.Type().Elem())
			if err = Assign(p.Interface(), v); err == nil {
				target.Set(p)
			}
		}
	case reflect.String:
		var s string
		s, err = convert[string](v)
		target.SetString(s)
	case reflect.Int, reflect.Int64, reflect.Int32:
		var n int64
		n, err = convert[int64](v)
		target.SetInt(n)
	case reflect.Float64:
		var f float64
		f, err = convert[float64](v)
		target.SetFloat(f)
	case reflect.Bool:
		var b bool
		b, err = convert[bool](v)
		target.SetBool(b)
	default:
		err = fmt.Errorf("unsupported target %s", target.Type())
	}
	return err
}

// convert applies the rules of database/sql; NULL has no value.
func convert[T any](v driver.Value) (T, error) {
	var n sql.Null[T]
	err := n.Scan(v)
	if err == nil && !n.Valid {
		err = fmt.Errorf("NULL into %T", n.V)
	}
	return n.V, err
}

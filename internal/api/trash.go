package api

import (
	"context"

	"github.com/sessiondb-go/sessiondb"
)

var trashMethods = []*Method{
	method(ReadsStore, "list_trash", "Lists the conversations in the trash, the last deleted first.",
		"a list of the columns of the last session of each, with trash_id, sessions, messages, deleted_at, expires_at", listTrash),
	method(WritesStore, "restore_from_trash", "Puts a conversation from the trash back as it was.",
		"the count restored, messages; the lists sessions, untitled, rejoined", restoreFromTrash),
	method(WritesStore, "empty_trash", "Deletes what is in the trash for good.", "the counts conversations, sessions, messages", emptyTrash),
}

type trashPageParams struct {
	Limit  int `json:"limit" default:"20" null:"no limit" doc:"at most so many"`
	Offset int `json:"offset" default:"0"`
}

func listTrash(ctx context.Context, db *sessiondb.DB, p trashPageParams) (any, error) {
	if p.Limit == 0 {
		return []sessiondb.Trashed{}, nil
	}
	return list(db.Trash(ctx, sessiondb.TrashFilter{Limit: p.Limit, Offset: p.Offset}))
}

func restoreFromTrash(ctx context.Context, db *sessiondb.DB, p refParams) (any, error) {
	e, err := db.FindTrashed(ctx, p.Ref)
	if err != nil {
		return nil, err
	}
	return result(db.RestoreTrashed(ctx, e.ID))
}

type emptyTrashParams struct {
	OlderThanDays float64 `json:"older_than_days" default:"0" doc:"days since the deletion"`
	DryRun        bool    `json:"dry_run" default:"false" doc:"report what would go and delete nothing"`
}

func emptyTrash(ctx context.Context, db *sessiondb.DB, p emptyTrashParams) (any, error) {
	return result(db.EmptyTrash(ctx, sessiondb.EmptyTrashOptions{OlderThan: days(p.OlderThanDays), DryRun: p.DryRun}))
}

import type { Context } from '../context.js'
import { MARK_PATTERN, readCheckpoint } from './origin.js'

/** An embedded database blocks the host while it reads. */
const BATCH_SIZE = 500

/** Deletes import markers of deleted errors, which can be imported again. */
export async function forgetImports({ database: { read } }: Context): Promise<void> {
  for (let last = ''; ; ) {
    const marks = await read
      .selectFrom('faultboard_leases')
      .select('name')
      .where('name', 'like', MARK_PATTERN)
      .where('name', '>', last)
      .orderBy('name')
      .limit(BATCH_SIZE)
      .execute()
    const names = marks.map(({ name }) => name)
    if (names.length === 0) return
    const rows = await read
      .selectFrom('faultboard_errors')
      .select('id')
      .where('id', 'in', [...new Set(names.map((name) => readCheckpoint(name).error_id))])
      .execute()
    const existingIds = new Set(rows.map(({ id }) => id))
    const orphaned = names.filter((name) => !existingIds.has(readCheckpoint(name).error_id))
    if (orphaned.length > 0) await read.deleteFrom('faultboard_leases').where('name', 'in', orphaned).execute()
    last = names.at(-1) ?? last
  }
}

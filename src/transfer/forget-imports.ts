import type { Context } from '../context.js'
import { MARKS, readMark } from './origin.js'

/** An embedded database blocks the host while it reads. */
const AT_ONCE = 500

/** Deletes import markers of deleted errors, which can be imported again. */
export async function forgetImports({ database: { read } }: Context): Promise<void> {
  for (let last = ''; ; ) {
    const marks = await read
      .selectFrom('faultboard_leases')
      .select('name')
      .where('name', 'like', MARKS)
      .where('name', '>', last)
      .orderBy('name')
      .limit(AT_ONCE)
      .execute()
    const names = marks.map(({ name }) => name)
    if (names.length === 0) return
    const rows = await read
      .selectFrom('faultboard_errors')
      .select('id')
      .where('id', 'in', [...new Set(names.map((name) => readMark(name).error_id))])
      .execute()
    const there = new Set(rows.map(({ id }) => id))
    const left = names.filter((name) => !there.has(readMark(name).error_id))
    if (left.length > 0) await read.deleteFrom('faultboard_leases').where('name', 'in', left).execute()
    last = names.at(-1) ?? last
  }
}

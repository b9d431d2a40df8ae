import type { Context } from '../context.js'

/** Every application that reports here. */
export async function applicationIds({ database: { read } }: Context): Promise<number[]> {
  const rows = await read.selectFrom('faultboard_applications').select('id').orderBy('id').execute()
  return rows.map(({ id }) => id)
}

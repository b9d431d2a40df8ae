import { type RawBuilder, sql } from '../../store/kysely.js'

const LIST_SIZES = [1, 5, 25, 100, 500, 2000]

/**
 * List of ids for `in (…)`, padded to one of a few lengths by repeating the last id. This limits the number of distinct
 * prepared statements.
 */
export function paddedIdList(ids: readonly number[]): RawBuilder<number> {
  const last = ids.at(-1) ?? 0
  const size = LIST_SIZES.find((candidate) => candidate >= ids.length) ?? ids.length
  return sql.join([...ids, ...Array.from({ length: size - ids.length }, () => last)])
}

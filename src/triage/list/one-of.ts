import { type RawBuilder, sql } from '../../store/kysely.js'

const SIZES = [1, 5, 25, 100, 500, 2000]

/**
 * A list of ids for `in (…)`, filled up to one of a few lengths by repeating the last: every other length would be
 * another statement to prepare and to keep.
 */
export function oneOf(ids: readonly number[]): RawBuilder<number> {
  const last = ids.at(-1) ?? 0
  const size = SIZES.find((one) => one >= ids.length) ?? ids.length
  return sql.join([...ids, ...Array.from({ length: size - ids.length }, () => last)])
}

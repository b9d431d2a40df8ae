import { expect, test } from 'vitest'
import { errorsWithMostUsers } from '../../../src/analytics/trends/user-impact.js'
import type { Context } from '../../../src/context.js'
import { ALL_ERRORS } from '../../../src/model/input/scope.js'
import { describeEachDatabase } from '../../support/databases.js'
import { NOON } from '../../support/tracker.js'
import { listContext } from '../../triage/list-context.js'

const SPAN = { from: NOON - 86_400_000, to: NOON }
const ERRORS = 3000
const ROWS_PER_INSERT = 100

describeEachDatabase('errors with the most users', (database) => {
  test('checks thousands of errors without users in a few statements', async () => {
    const { context, statements } = await contextWithErrors(() => ({ occurrence_count: 2, user_count: null }))
    expect(await errorsWithMostUsers(context, ALL_ERRORS, SPAN, 10)).toEqual([])
    expect(statements.count).toBeLessThanOrEqual(4)
  })

  test('ranks the more frequent errors first among thousands with one user each', async () => {
    const { context, statements } = await contextWithErrors((i) => ({ occurrence_count: 1 + (i % 3), user_count: 1 }))
    const impacted = await errorsWithMostUsers(context, ALL_ERRORS, SPAN, 10)
    expect(impacted.map(({ message }) => message)).toEqual(Array.from({ length: 10 }, (_, i) => `error ${i * 3 + 2}`))
    expect(statements.count).toBeLessThanOrEqual(6)
  })

  test('finds an error with more users among thousands of more frequent errors', async () => {
    const { context } = await contextWithErrors((i) =>
      i === ERRORS - 1 ? { occurrence_count: 3, user_count: 3 } : { occurrence_count: 5, user_count: 2 },
    )
    const [first, second] = await errorsWithMostUsers(context, ALL_ERRORS, SPAN, 10)
    expect([first, second]).toMatchObject([{ message: `error ${ERRORS - 1}` }, { message: 'error 0' }])
  })

  /** Inserts copies of an error directly, and counts the statements that follow. */
  async function contextWithErrors(figures: (i: number) => { occurrence_count: number; user_count: number | null }) {
    const { context, log } = await listContext(database)
    const id = await log('Error')
    const { read, write } = context.database
    const { id: _, ...copied } = await read
      .selectFrom('faultboard_errors')
      .selectAll()
      .where('id', '=', id)
      .executeTakeFirstOrThrow()
    const copies = Array.from({ length: ERRORS }, (_, i) => ({
      ...copied,
      ...figures(i),
      message: `error ${i}`,
      hash_signature: String(i),
    }))
    await write(async (trx) => {
      await trx.deleteFrom('faultboard_errors').execute()
      for (let from = 0; from < ERRORS; from += ROWS_PER_INSERT)
        await trx
          .insertInto('faultboard_errors')
          .values(copies.slice(from, from + ROWS_PER_INSERT))
          .execute()
    })
    return countStatements(context)
  }
})

function countStatements(context: Context) {
  const statements = { count: 0 }
  const read = context.database.read.withPlugin({
    transformQuery: ({ node }) => node,
    async transformResult({ result }) {
      statements.count++
      return result
    },
  })
  const counted = Object.create(context.database, { read: { value: read } })
  return { context: { ...context, database: counted }, statements }
}

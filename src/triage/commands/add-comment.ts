import * as v from 'valibot'
import { errorNotFound } from '../../model/errors.js'
import { id, requiredText } from '../../model/input/input.js'
import { defineCommand } from '../../operation.js'
import { lockErrors } from '../../store/sql/row-locks.js'
import { auditError, type ChangeResult, MAX_NAME_LENGTH, MAX_TEXT_LENGTH } from './change-errors.js'

/** Adds a comment to an error and an entry to the activity trail. */
export const addComment = defineCommand({
  input: v.object({
    error_id: id(),
    author_name: requiredText({ max: MAX_NAME_LENGTH }),
    body: requiredText({ max: MAX_TEXT_LENGTH }),
  }),
  async run({ database, now }, { error_id, author_name, body }): Promise<ChangeResult & { comment_id: number }> {
    const comment_id = await database.write(async (trx) => {
      const [row] = await lockErrors(trx, database.dialect, [error_id])
      if (!row) throw errorNotFound(error_id)
      const created_at = now()
      await trx.insertInto('faultboard_comments').values({ error_id, author_name, body, created_at }).execute()
      await trx
        .insertInto('faultboard_activities')
        .values({ error_id, actor: author_name, action: 'commented', created_at })
        .execute()
      // The row lock guarantees that this comment is the newest comment of the error.
      const { id } = await trx
        .selectFrom('faultboard_comments')
        .select((eb) => eb.fn.max('id').as('id'))
        .where('error_id', '=', error_id)
        .executeTakeFirstOrThrow()
      return Number(id)
    })
    return { changed: true, comment_id }
  },
  audit: (input, result) => auditError('comment', input, result),
})

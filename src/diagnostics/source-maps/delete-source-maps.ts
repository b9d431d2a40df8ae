import * as v from 'valibot'
import { defineOperation } from '../../operation.js'
import { ownApplicationId } from '../../store/applications.js'
import { releaseName } from './release-name.js'

/** Removes the source maps of a release; gives how many there were. */
export const deleteSourceMaps = defineOperation({
  input: v.object({ release: releaseName() }),
  async run(context, { release }): Promise<{ deleted: number }> {
    const application_id = await ownApplicationId(context)
    if (application_id === null) return { deleted: 0 }
    const { numDeletedRows } = await context.database.write((trx) =>
      trx
        .deleteFrom('faultboard_source_maps')
        .where('application_id', '=', application_id)
        .where('release_name', '=', release)
        .executeTakeFirstOrThrow(),
    )
    return { deleted: Number(numDeletedRows) }
  },
})

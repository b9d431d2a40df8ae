import { beforeAll, expect, test } from 'vitest'
import { describeEachDatabase } from '../support/databases.js'
import { temporaryFolder, trackerAt } from '../support/tracker.js'

describeEachDatabase('what is derived from an error', (database) => {
  let url = ''
  beforeAll(async () => {
    url = await database.fresh()
  })

  test.each(['SimilarErrors', 'CoOccurringErrors', 'ErrorCascades', 'OccurrencePattern', 'ErrorBursts'] as const)(
    '%s of an error that does not exist, or not in the application, is not found',
    async (name) => {
      const place = { url, spool_path: temporaryFolder() }
      const { tracker } = trackerAt(place)
      const other = trackerAt(place, { application_name: 'billing' }).tracker
      const error_id = (await tracker.Commands.LogError.call({ error_type: 'Here', message: 'm' }))?.id ?? 0
      await other.Commands.LogError.call({ error_type: 'There', message: 'm' })
      const [shop, billing] = ['shop', 'billing'].map(
        async (wanted) => (await tracker.Queries.Applications.call()).find((one) => one.name === wanted)?.id,
      )
      const ask = (input: object) => tracker.Queries[name].call({ error_id, ...input })
      await expect(ask({ application_id: await shop })).resolves.toBeDefined()
      await expect(ask({})).resolves.toBeDefined()
      await expect(ask({ application_id: await billing })).rejects.toMatchObject({ code: 'not_found' })
      await expect(ask({ error_id: 999_999 })).rejects.toMatchObject({ code: 'not_found' })
    },
  )
})

import { beforeAll, expect, test } from 'vitest'
import { describeEachDatabase } from '../support/databases.js'
import { temporaryFolder, trackerAt } from '../support/tracker.js'

describeEachDatabase('a query about an error', (database) => {
  let url = ''
  beforeAll(async () => {
    url = await database.fresh()
  })

  test.each(['SimilarErrors', 'CoOccurringErrors', 'ErrorCascades', 'OccurrencePattern', 'ErrorBursts'] as const)(
    '%s rejects an unknown error and an error of another application',
    async (name) => {
      const storage = { url, spool_path: temporaryFolder() }
      const { tracker } = trackerAt(storage)
      const other = trackerAt(storage, { application_name: 'billing' }).tracker
      const error_id = (await tracker.Commands.LogError.call({ error_type: 'Here', message: 'm' }))?.id ?? 0
      await other.Commands.LogError.call({ error_type: 'There', message: 'm' })
      const [shop, billing] = ['shop', 'billing'].map(
        async (application) => (await tracker.Queries.Applications.call()).find(({ name }) => name === application)?.id,
      )
      const query = (input: object) => tracker.Queries[name].call({ error_id, ...input })
      await expect(query({ application_id: await shop })).resolves.toBeDefined()
      await expect(query({})).resolves.toBeDefined()
      await expect(query({ application_id: await billing })).rejects.toMatchObject({ code: 'not_found' })
      await expect(query({ error_id: 999_999 })).rejects.toMatchObject({ code: 'not_found' })
    },
  )
})

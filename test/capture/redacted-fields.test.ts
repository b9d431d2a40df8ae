import { expect, test } from 'vitest'
import { describeEachDatabase } from '../support/databases.js'
import { freshTracker } from '../support/tracker.js'

describeEachDatabase('a secret', (database) => {
  test('is taken out of every field that is stored', async () => {
    const { tracker } = await freshTracker(database)
    const secret = 'password=hunter2'
    const cause = Object.assign(new Error(secret), { name: `Cause ${secret}`, code: secret })
    const logged = await tracker.Commands.LogError.call({
      exception: new Error(secret, { cause }),
      error_type: `Type ${secret}`,
      backtrace: [
        'at password: hunter2',
        'at f (sk_live_hunter2hunter2)',
        'at Authorization: Bearer hunter2hunter2',
        'at ok (/srv/app.js:1:2)',
      ],
      platform: secret,
      app_version: secret,
      git_sha: secret,
      user_id: secret,
      ip_address: secret,
      user_agent: secret,
      request_url: `https://h/?${secret}`,
      request_params: { note: secret },
      context: { note: secret },
    })
    const found = await tracker.Queries.FindError.call({ error_id: logged?.id ?? 0 })
    expect(JSON.stringify(found)).not.toContain('hunter2')
    expect(found.backtrace).toContain('at ok (/srv/app.js:1:2)')
    expect(found.user_id).toBe('password=[FILTERED]')
  })
})

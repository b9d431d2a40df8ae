import { expect, test } from 'vitest'
import { formatArguments } from '../../../src/capture/breadcrumbs/console-text.js'
import { sensitiveKeys } from '../../../src/model/redaction/sensitive-keys.js'
import { describeOneDatabase } from '../../support/databases.js'
import { freshTracker } from '../../support/tracker.js'

describeOneDatabase('redaction of fields', (database) => {
  test('redacts a secret in every stored field', async () => {
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

  test('redacts printed arguments after the name of a secret', async () => {
    const { tracker } = await freshTracker(database, { enable_breadcrumbs: true })
    const printed = [
      ['password', 'hunter2 hunter2'],
      ['login', 'password:', 'hunter2 "hunter2'],
      ['the API key =', 'hunter2 hunter2'],
      ['pin', 1234, 'tried'],
      ['token', { a: 1 }],
      ['user', 'anna'],
      ['session started', 5],
      ['%s is', 'anna', 'here'],
    ]
    const logged = await tracker.withScope(() => {
      for (const values of printed)
        tracker.addBreadcrumb({ category: 'console', message: formatArguments(values, sensitiveKeys([])) })
      return tracker.Commands.LogError.call({ exception: new Error('x') })
    })
    const { breadcrumbs } = await tracker.Queries.FindError.call({ error_id: logged?.id ?? 0 })
    expect(breadcrumbs?.map(({ message }) => message)).toEqual([
      'password: [FILTERED]',
      'login password: [FILTERED]',
      'the API key = [FILTERED]',
      'pin: [FILTERED] tried',
      'token: [FILTERED]',
      'user anna',
      'session started 5',
      'anna is here',
    ])
  })

  test('redacts a URL inside the URL of a breadcrumb', async () => {
    const { tracker } = await freshTracker(database, { enable_breadcrumbs: true })
    const logged = await tracker.withScope(() => {
      tracker.addBreadcrumb({ category: 'http', message: 'GET https://x.example/?next=%2Fa%3Ftoken%3Dhunter2' })
      tracker.addBreadcrumb({ category: 'http', message: 'GET /%3Fuser%5Bpassword%5D%3Dhunter2' })
      return tracker.Commands.LogError.call({ exception: new Error('x') })
    })
    const { breadcrumbs } = await tracker.Queries.FindError.call({ error_id: logged?.id ?? 0 })
    expect(breadcrumbs?.map(({ message }) => message)).toEqual([
      'GET https://x.example/?next=%2Fa%3Ftoken%3D[FILTERED]',
      'GET /%3Fuser%5Bpassword%5D%3D[FILTERED]',
    ])
  })
})

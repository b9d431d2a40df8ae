import { expect, test } from 'vitest'
import { onlyError, REPORT, reportingHost } from './reporting-host.js'
import { intakeHost, ON_SQLITE } from './sentry/intake-host.js'

const SECRET = 'hunter2SECRET'
const ADDRESS = `https://ann:${SECRET}@shop.example/?access_token=${SECRET}&page=2#token=${SECRET}`

test('does not store secrets that a client reports', async () => {
  const host = await reportingHost({ trust_user: true })
  const response = await host.post({
    error: {
      ...REPORT,
      message: `sign-in failed: password=${SECRET}, Authorization: Bearer ${SECRET}${SECRET}`,
      stack: `f@https://shop.example/a.js?token=${SECRET}:1:2\ng@https://ann:${SECRET}@shop.example/b.js:1:2`,
      app_version: `password=${SECRET}`,
      user_id: `token=${SECRET}`,
      url: ADDRESS,
      component: `token=${SECRET}`,
      device_info: { password: SECRET, nested: { api_key: SECRET } },
      context: { authorization: SECRET, headers: { Cookie: SECRET }, list: [{ secret: SECRET }] },
      tags: { password: SECRET, address: ADDRESS },
      breadcrumbs: [
        { category: `password=${SECRET}`, message: `GET ${ADDRESS}`, metadata: { password: SECRET, url: ADDRESS } },
        { message: 'sent', metadata: { body: JSON.stringify({ password: SECRET }) } },
      ],
    },
  })
  expect(response.status).toBe(201)
  const stored = JSON.stringify(await onlyError(host.tracker))
  expect(stored).toContain('page=2')
  expect(stored).not.toContain(SECRET)
})

test('does not store secrets, cookies, local variables and personal addresses sent by a Sentry SDK', async () => {
  const host = await intakeHost(ON_SQLITE)
  const frame = {
    ...{ function: 'f', abs_path: ADDRESS, lineno: 3, vars: { plain: SECRET } },
    ...{ pre_context: [`PASSWORD=${SECRET}`, `get('${ADDRESS}')`], context_line: `{ password: '${SECRET}' }` },
    post_context: [`// Authorization: Bearer ${SECRET}`],
  }
  await host.event({
    exception: { values: [{ type: 'E', value: `leaking password=${SECRET}`, stacktrace: { frames: [frame] } }] },
    breadcrumbs: [
      { message: `GET ${ADDRESS}`, data: { url: ADDRESS, password: SECRET, body: `password=${SECRET}&page=2` } },
      { data: { url: ADDRESS, method: 'GET' } },
    ],
    request: {
      url: ADDRESS,
      query_string: `password=${SECRET}&page=2`,
      headers: { Cookie: SECRET, Authorization: SECRET, 'X-Api-Key': SECRET, 'User-Agent': 'test' },
      cookies: { session: SECRET },
      env: { REMOTE_ADDR: '203.0.113.9', KEY: SECRET },
      data: `password=${SECRET}&page=2`,
    },
    user: { id: 7, password: SECRET, ip_address: '203.0.113.9', geo: { city: '203.0.113.9' }, data: { token: SECRET } },
    contexts: { cart: { password: SECRET, nested: { token: SECRET } }, trace: { data: { password: SECRET } } },
    extra: { password: SECRET, json: JSON.stringify({ password: SECRET }), header: `Authorization: Bearer ${SECRET}` },
    tags: { token: SECRET, address: ADDRESS },
    server_name: `password=${SECRET}`,
    transaction: ADDRESS,
    environment: `token=${SECRET}`,
  })
  const stored = JSON.stringify(await host.find('leaking'))
  expect(stored).toContain('page=2')
  expect(stored).not.toContain(SECRET)
  expect(stored).not.toContain('203.0.113.9')
})

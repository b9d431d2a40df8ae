import { join } from 'node:path'
import { afterEach, expect, expectTypeOf, onTestFinished, test, vi } from 'vitest'
import type { Visit } from '../../src/dashboard/define.js'
import { OPTION_NAMES, optionRow, type SecretOptionName, type Settings } from '../../src/options.js'
import { signIn, startHost, USER } from '../support/host.js'
import { PAGES } from '../support/routes.js'
import { temporaryFolder } from '../support/tracker.js'

/** Also valid as part of a hash. */
const MARK = 'fee1dead5ea1'

/** A marked value for every secret option. A new secret option does not compile until it is added here. */
const secrets = (folder: string): { [Name in SecretOptionName]: NonNullable<Settings[Name]> } => ({
  database: `sqlite:${join(folder, `${MARK}.sqlite3`)}`,
  dashboard_password: MARK,
  dashboard_users: [
    { name: 'anna', role: 'viewer', password_hash: `scrypt:16384:8:1:${MARK.padEnd(22, 's')}:${MARK.padEnd(43, 'k')}` },
  ],
  api_tokens: [{ name: 'ci', role: 'viewer', token_hash: `sha256:${MARK.padEnd(64, '0')}` }],
  chat_webhook_url: `https://chat.invalid/${MARK}`,
  community_chat_webhook_url: `https://community.invalid/${MARK}`,
  webhook_url: `https://webhook.invalid/${MARK}`,
  webhook_secret: MARK,
  mail_transport: Object.assign({ sendMail: async () => ({}) }, { password: MARK }),
  smtp_url: `smtp://user:${MARK}@mail.invalid`,
  incident_integration_key: MARK,
  redis_url: `redis://:${MARK}@redis.invalid`,
  job_database: `postgres://user:${MARK}@postgres.invalid/jobs`,
})

afterEach(() => vi.restoreAllMocks())

test('the test covers every secret option', () => {
  const secret = OPTION_NAMES.filter((name) => optionRow(name).secret)
  expect(Object.keys(secrets('')).sort()).toEqual(secret.sort())
  for (const value of Object.values(secrets(''))) expect(isMarked(value)).toBe(true)
})

test('no view type contains a secret option', () => {
  expectTypeOf<Extract<keyof Visit, SecretOptionName | 'config'>>().toBeNever()
  expectTypeOf<Extract<keyof Visit['options'] | keyof Visit['switches'], SecretOptionName>>().toBeNever()
  expectTypeOf<SecretOptionName>().toEqualTypeOf<keyof ReturnType<typeof secrets>>()
  expect(OPTION_NAMES).toContain('dashboard_password' satisfies SecretOptionName)
})

test('passes every switch and no secret option to the views of pages', async () => {
  const values = secrets(temporaryFolder())
  const host = await startHost(values.database as string, { ...values, spool_path: temporaryFolder() })
  onTestFinished(() => host.close())
  const visits: Visit[] = []
  for (const page of PAGES) {
    const { view } = page
    vi.spyOn(page, 'view').mockImplementation((data, visit, parameters) => {
      visits.push(visit)
      return view.call(page, data, visit, parameters)
    })
  }
  // Not /health, which shows the name of the database file on purpose.
  const paths = ['/overview', '/errors', '/notifications', '/settings', '/releases']
  for (const path of paths) {
    const response = await host.get(path, signIn(USER, MARK))
    expect(response.status).toBe(200)
    expect(await response.text()).not.toContain(MARK)
  }
  expect(visits.map(({ path }) => path)).toEqual(paths)
  expect(isMarked(host.tracker.config)).toBe(true)
  expect(visits.filter(isMarked)).toEqual([])
  const { config } = host.tracker
  const switches = OPTION_NAMES.filter((name) => typeof config[name] === 'boolean')
  expect(Object.keys(visits[0]?.switches ?? {}).sort()).toEqual([...switches].sort())
})

/**
 * Returns true if the mark can be reached from a value by any chain of properties, hidden ones and prototypes included.
 */
function isMarked(start: unknown): boolean {
  const seen = new Set<unknown>()
  const pending: unknown[] = [start]
  while (pending.length > 0) {
    const value = pending.pop()
    if (typeof value === 'string' && value.includes(MARK)) return true
    const isVisitable = (typeof value === 'object' && value !== null) || typeof value === 'function'
    if (!isVisitable || seen.has(value)) continue
    seen.add(value)
    if (value instanceof URLSearchParams || value instanceof Map) pending.push([...value])
    for (const property of Object.values(Object.getOwnPropertyDescriptors(value))) pending.push(property.value)
    pending.push(Object.getPrototypeOf(value))
  }
  return false
}

import { DummyDriver, Kysely, SqliteAdapter, SqliteIntrospector, SqliteQueryCompiler } from 'kysely'
import { describe, expect, test } from 'vitest'
import { requireSignIn } from '../../src/config/resolve.js'
import { ConfigurationError } from '../../src/model/errors.js'
import type { Settings } from '../../src/options.js'
import { resolveConfiguration } from '../../src/options.js'

const kysely = new Kysely({
  dialect: {
    createAdapter: () => new SqliteAdapter(),
    createDriver: () => new DummyDriver(),
    createIntrospector: (db) => new SqliteIntrospector(db),
    createQueryCompiler: () => new SqliteQueryCompiler(),
  },
})

const credentials = { dashboard_username: 'admin', dashboard_password: 'x' }

function problemsOf(settings: object, env: NodeJS.ProcessEnv = {}): readonly string[] {
  try {
    resolveConfiguration(settings as Settings, env)
  } catch (error) {
    if (error instanceof ConfigurationError) return error.problems
    throw error
  }
  return []
}

const problemOf = (settings: object, env?: NodeJS.ProcessEnv) => problemsOf({ ...credentials, ...settings }, env)

test('reports all problems in one ConfigurationError', () => {
  const settings = { sampling_rate: 2, retention_days: 'soon', time_zone: 'Mars/Olympus', smapling_rate: 1 }
  const problems = problemsOf(settings, { FAULTBOARD_ASYNC_LOGGING: 'perhaps' })
  expect(problems).toHaveLength(5)
  expect(() => resolveConfiguration(settings as never, {})).toThrow(/smapling_rate[\s\S]*time_zone/)
  expect(() => resolveConfiguration(settings as never, {})).toThrow(ConfigurationError)
})

const HASH = `scrypt:16384:8:1:${'s'.repeat(22)}:${'k'.repeat(43)}`
const TOKEN = { name: 'ci', role: 'viewer', token_hash: `sha256:${'a'.repeat(64)}` }
const USER = { name: 'anna', password_hash: HASH, role: 'viewer' }

describe('accounts', () => {
  test.each<[string, unknown, string]>([
    ['text', 'anna', 'must be a list of'],
    ['a mapping', { anna: USER }, 'must be a list of'],
    ['null', [null], 'entry 1: it must be an object'],
    ['no name', [{ ...USER, name: undefined }], 'entry 1: name must be a non-empty string'],
    ['a blank name', [{ ...USER, name: ' ' }], 'entry 1: name must be a non-empty string'],
    ['a long name', [{ ...USER, name: 'x'.repeat(256) }], 'entry 1: name must have at most 255 characters'],
    ['a name with a colon', [{ ...USER, name: 'an:na' }], 'entry 1: name must not contain a colon'],
    ['a name with a line break', [{ ...USER, name: 'an\r\nna' }], 'entry 1: name must not contain control characters'],
    ['an unknown role', [USER, { ...USER, name: 'ben', role: 'root' }], 'entry 2: role must be one of viewer'],
    ['an inherited role', [{ ...USER, role: '__proto__' }], 'entry 1: role must be one of viewer'],
    ['a list of roles', [{ ...USER, role: ['admin'] }], 'entry 1: role must be one of viewer'],
    ['no role', [{ ...USER, role: undefined }], 'entry 1: role must be one of viewer'],
    ['an invalid email', [{ ...USER, email: 'anna' }], 'entry 1: email must be an email address'],
    ['a plain password', [{ ...USER, password: 'x' }], 'entry 1: password is not a field'],
    ['two entries of one name', [USER, USER], 'has two entries with the name "anna"'],
  ])('accounts are rejected with %s', (_title, dashboard_users, problem) => {
    expect(problemsOf({ dashboard_users })).toEqual([expect.stringContaining(problem)])
  })

  test.each([
    undefined,
    '',
    'secret',
    HASH.replaceAll(':', '$'),
    HASH.replace('scrypt', 'bcrypt'),
    HASH.replace('16384', '16383'),
    HASH.replace('16384', '8192'),
    HASH.replace('16384', '1e5'),
    HASH.replace('16384', '9999999'),
    HASH.replace(':8:', ':1:'),
    HASH.replace(':8:', ':99:'),
    HASH.replace(':1:', ':0:'),
    HASH.slice(0, -1),
    `${HASH}:x`,
    `${HASH}\n`,
    '$2b$10$N9qo8uLOickgx2ZMRZoMyeIjZAgcfl7p92ldGxad68LJZdL17lhWy',
  ])('accounts are rejected with the password hash %j', (password_hash) => {
    const [problem = '', ...others] = problemsOf({ dashboard_users: [{ ...USER, password_hash }] })
    expect(others).toEqual([])
    expect(problem).toContain('entry 1: password_hash of "anna" is not a valid hash')
    expect(problem).toContain('faultboard hash-password')
    if (password_hash) expect(problem).not.toContain(password_hash)
  })

  test.each<[string, unknown, string]>([
    ['text', 'ci', 'must be a list of'],
    ['null', [null], 'entry 1: it must be an object'],
    ['a long name', [{ ...TOKEN, name: 'x'.repeat(10_000) }], 'entry 1: name must have at most 255 characters'],
    ['an unknown role', [TOKEN, { ...TOKEN, name: 'b', role: 'root' }], 'entry 2: role must be one of viewer'],
    ['a plain token', [{ ...TOKEN, token: 'fb_x' }], 'entry 1: token is not a field'],
    ['no hash', [{ ...TOKEN, token_hash: undefined }], 'entry 1: token_hash of "ci" must be sha256:'],
    ['a token as hash', [{ ...TOKEN, token_hash: `fb_${'x'.repeat(43)}` }], 'token_hash of "ci" must be sha256:'],
    ['another hash', [{ ...TOKEN, token_hash: HASH }], 'entry 1: token_hash of "ci" must be sha256:'],
    ['upper case', [{ ...TOKEN, token_hash: TOKEN.token_hash.toUpperCase() }], 'must be sha256:'],
    ['a short hash', [{ ...TOKEN, token_hash: TOKEN.token_hash.slice(0, -1) }], 'must be sha256:'],
    ['no date', [{ ...TOKEN, expires_at: 'soon' }], 'expires_at of "ci" must be a time such as 2027-01-31'],
    ['an impossible day', [{ ...TOKEN, expires_at: '2027-02-31' }], 'expires_at of "ci" must be a time such as'],
    ['a number', [{ ...TOKEN, expires_at: 5 }], 'expires_at of "ci" must be a time such as'],
    ['two entries of one name', [TOKEN, TOKEN], 'has two entries with the name "ci"'],
    [
      'two entries of one token',
      [TOKEN, { ...TOKEN, name: 'deploys', role: 'admin' }],
      'has the same token_hash in "ci" and "deploys": the role would be ambiguous. Create a token for each entry, or remove one',
    ],
  ])('API tokens are rejected with %s', (_title, api_tokens, problem) => {
    expect(problemsOf({ api_tokens })).toEqual([expect.stringContaining(problem)])
    expect(problemsOf({ api_tokens }).join()).not.toMatch(/aaaa|xxxx/)
  })

  test('accounts in the environment are JSON', () => {
    expect(problemsOf({}, { FAULTBOARD_DASHBOARD_USERS: 'anna' })).toEqual([expect.stringContaining('must be a list')])
    expect(problemsOf({}, { FAULTBOARD_DASHBOARD_USERS: JSON.stringify([USER]) })).toEqual([])
  })

  test.each([
    '//evil.example',
    '/\\evil.example',
    'javascript:alert(1)',
    'login',
    '/log in',
    '/login\r\nX: y',
    'https:///x',
  ])('the sign-in page cannot be %j', (url) => {
    expect(problemsOf({ sign_in_url: url, sign_out_url: url })).toEqual([
      expect.stringContaining('sign_in_url must be a path such as /login'),
      expect.stringContaining('sign_out_url must be a path such as /login'),
    ])
  })
})

describe('dashboard credentials', () => {
  const missingIn = (settings: object, env: NodeJS.ProcessEnv = {}) => {
    try {
      requireSignIn(resolveConfiguration(settings as Settings, env).options)
    } catch (error) {
      return (error as ConfigurationError).problems
    }
    return []
  }

  test('dashboard credentials are reported with options and variables if both are missing', () => {
    const [username, password] = missingIn({})
    expect(username).toMatch(/dashboard_username.*FAULTBOARD_DASHBOARD_USERNAME/)
    expect(password).toMatch(/dashboard_password.*FAULTBOARD_DASHBOARD_PASSWORD.*dashboard_users or authenticate/)
  })
  test.each([{ dashboard_users: [USER] }, { authenticate: () => null }])(
    'dashboard credentials are not required with another sign-in: %o',
    (settings) => {
      expect(missingIn(settings)).toEqual([])
      expect(missingIn({ ...settings, dashboard_username: 'admin' })).toEqual([
        expect.stringContaining('dashboard_password is missing'),
      ])
    },
  )
  test('dashboard credentials do not share their name with an account', () => {
    expect(missingIn({ ...credentials, dashboard_users: [{ ...USER, name: 'admin' }] })).toEqual([
      'dashboard_users contains "admin", which is also the dashboard_username',
    ])
  })
  test('dashboard credentials are reported individually if only one is missing', () => {
    expect(missingIn({ dashboard_username: 'admin' })).toEqual([
      expect.stringContaining('dashboard_password is missing'),
    ])
    expect(missingIn({ dashboard_password: 'x' })).toEqual([expect.stringContaining('dashboard_username is missing')])
  })
  test.each(['', '   ', 5, {}])('dashboard credentials are rejected if the value is %j', (value) => {
    expect(problemsOf({ dashboard_username: value, dashboard_password: value })).toHaveLength(2)
  })
  test.each([null, undefined])('dashboard credentials are missing if the value is %j', (value) => {
    expect(missingIn({ dashboard_username: value, dashboard_password: value })).toHaveLength(2)
  })
  test('dashboard credentials are missing if the variable is empty', () => {
    expect(missingIn({}, { FAULTBOARD_DASHBOARD_USERNAME: '', FAULTBOARD_DASHBOARD_PASSWORD: '' })).toHaveLength(2)
  })
  test('dashboard credentials are rejected if the user name contains a colon', () => {
    expect(problemOf({ dashboard_username: 'a:b' })).toEqual(['dashboard_username must not contain a colon'])
    expect(problemOf({ dashboard_password: 'a:b' })).toEqual([])
  })
})

describe('an unknown name', () => {
  test('an unknown name is rejected with the most similar option', () => {
    expect(problemOf({ retentionDay: 5 })).toEqual(['retentionDay is not an option; did you mean retentionDays?'])
    expect(problemOf({ enable_breadcrums: true })[0]).toContain('did you mean enable_breadcrumbs?')
  })
  test('an unknown name is rejected without a suggestion if no option is similar', () =>
    expect(problemOf({ colour: 'red' })[0]).toMatch(/colour is not an option/))
  test.each(['constructor', 'toString', 'hasOwnProperty'])('an unknown name is rejected if it is %s', (name) => {
    expect(problemOf({ [name]: 1 })[0]).toContain(`${name} is not an option`)
  })
})

test.each([
  ['Kysely', kysely, 'pass pool, as in new PostgresDialect({ pool })'],
  ['Drizzle', { $client: {} }, 'pass db.$client'],
  ['Knex', Object.assign(() => {}, { fromRaw() {} }), 'pass process.env.DATABASE_URL'],
  ['Prisma', { $connect() {} }, 'pass process.env.DATABASE_URL'],
  ['Sequelize', { connectionManager: {} }, 'pass process.env.DATABASE_URL'],
  ['TypeORM', { connect() {}, createQueryRunner() {} }, 'pass dataSource.driver.master (PostgreSQL)'],
])('a %s instance as database is rejected with the expression to pass', (library, database, expression) => {
  const [problem] = problemOf({ database })
  expect(problem).toContain(`database must not be a ${library} instance: ${expression}`)
})

describe('an invalid value', () => {
  test.each([
    [{ sampling_rate: 1.1 }, 'sampling_rate must be a number from 0 to 1'],
    [{ sampling_rate: Number.NaN }, 'sampling_rate must be a number from 0 to 1'],
    [{ sampling_rate: '0.5' }, 'sampling_rate must be a number from 0 to 1'],
    [{ max_backtrace_lines: 0 }, 'max_backtrace_lines must be a whole number from 1 to 1000'],
    [{ max_backtrace_lines: 1.5 }, 'max_backtrace_lines must be a whole number from 1 to 1000'],
    [{ max_backtrace_lines: Number.POSITIVE_INFINITY }, 'max_backtrace_lines must be a whole number from 1 to 1000'],
    [{ retention_days: 0 }, 'retention_days must be a whole number from 1 to 36500'],
    [{ async_logging: 'true' }, 'async_logging must be true or false'],
    [{ time_zone: 'Nowhere' }, 'time_zone must be a time zone such as UTC or Europe/Berlin'],
    [{ time_zone: null }, 'time_zone must be a time zone such as UTC or Europe/Berlin'],
    [{ mount_path: 'errors' }, 'mount_path must be a path such as /error_dashboard, without a trailing slash'],
    [{ mount_path: '/errors/' }, 'mount_path must be a path such as /error_dashboard, without a trailing slash'],
    [{ mount_path: '/a/../b//c' }, 'mount_path must be a path such as /error_dashboard, without a trailing slash'],
    [{ database: 'oracle://x' }, "database must be sqlite:FILE, postgres://…, mysql://…, or the host's pool or handle"],
    [{ dashboard_base_url: 'javascript:alert(1)' }, 'dashboard_base_url must be an http:// or https:// URL'],
    [{ chat_webhook_url: 'ftp://x' }, 'chat_webhook_url must be an http:// or https:// URL'],
    [{ before_log_callback: 'yes' }, 'before_log_callback must be a function'],
    [{ ignored_exceptions: 'AbortError' }, 'ignored_exceptions must be a list'],
    [{ ignored_exceptions: [5] }, 'ignored_exceptions must contain error type names, RegExps or classes'],
    [{ ignored_exceptions: [() => true] }, 'ignored_exceptions must contain error type names, RegExps or classes'],
    [{ sensitive_data_patterns: [5] }, 'sensitive_data_patterns must contain words or RegExps'],
    [{ trusted_proxies: '10.0.0.1' }, 'trusted_proxies must be a list'],
    [
      { trusted_proxies: ['loopback', '10.0.0.0/33'] },
      'trusted_proxies must contain IP addresses, ranges such as 10.0.0.0/8, loopback or private; "10.0.0.0/33" is none of these',
    ],
    [
      { trusted_proxies: [true] },
      'trusted_proxies must contain IP addresses, ranges such as 10.0.0.0/8, loopback or private; "true" is none of these',
    ],
    [{ baseline_alert_severities: ['urgent'] }, 'baseline_alert_severities must be one of critical, high, medium, low'],
    [
      { custom_severity_rules: { Foo: 'high' } },
      'custom_severity_rules must be a Map or a list of [RegExp, severity] pairs',
    ],
    [
      { custom_severity_rules: [[/x/, 'urgent']] },
      'custom_severity_rules must map to one of critical, high, medium, low',
    ],
    [{ custom_severity_rules: [[5, 'high']] }, 'custom_severity_rules must have RegExps as keys'],
    [{ custom_severity_rules: [/x/] }, 'custom_severity_rules must be a Map or a list of [RegExp, severity] pairs'],
    [
      { severity_thresholds: { fax: 'low' } },
      'severity_thresholds has the unknown key fax; allowed keys are chat, community_chat, email, incident, webhook',
    ],
    [{ severity_thresholds: { chat: 'urgent' } }, 'severity_thresholds must be one of critical, high, medium, low'],
  ])('an invalid value is reported with its option and the expected value: %j', (settings, problem) =>
    expect(problemOf(settings)).toEqual([problem]),
  )

  test('an invalid value is reported with its variable and option', () => {
    expect(problemOf({}, { FAULTBOARD_SAMPLING_RATE: 'half' })).toEqual([
      'FAULTBOARD_SAMPLING_RATE (option sampling_rate) must be a number from 0 to 1',
    ])
    expect(problemOf({}, { FAULTBOARD_SEVERITY_THRESHOLDS: 'chat' })).toHaveLength(1)
  })

  test('an invalid value is reported for its option if reading it throws', () => {
    const hostile = new Proxy([], {
      get: () => {
        throw new Error('no')
      },
    })
    expect(problemOf({ ignored_exceptions: hostile })).toEqual(['ignored_exceptions cannot be read'])
  })
})

describe('settings', () => {
  test('settings cannot pollute a prototype with a key named __proto__', () => {
    const settings = JSON.parse('{"__proto__":{"sampling_rate":0,"polluted":true}}')
    expect(problemOf({}, {})).toEqual([])
    const problems = problemsOf(Object.defineProperties({ ...credentials }, Object.getOwnPropertyDescriptors(settings)))
    expect(problems).toEqual([expect.stringContaining('__proto__ is not an option')])
    expect('polluted' in {}).toBe(false)
  })
  test('settings are ignored if they are inherited', () => {
    const settings = Object.assign(Object.create({ sampling_rate: 0 }), credentials)
    expect(resolveConfiguration(settings, {}).options.sampling_rate).toBe(1)
  })
  test('settings cannot pollute a prototype with a threshold named __proto__', () => {
    expect(problemOf({ severity_thresholds: JSON.parse('{"__proto__":"low"}') })[0]).toContain('unknown key __proto__')
  })
})

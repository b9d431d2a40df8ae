import { createServer, type RequestListener } from 'node:http'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { type Host, PASSWORD, startHost, startListening, USER } from '../../support/host.js'
import { faultboard, faultboardProcess, workingDirectory } from '../faultboard.js'

const SIGNED_IN = { FAULTBOARD_DASHBOARD_USERNAME: USER, FAULTBOARD_DASHBOARD_PASSWORD: PASSWORD }

describe('faultboard dump of a running application', () => {
  let host: Host
  let cwd: string
  let url: string

  beforeAll(async () => {
    cwd = await workingDirectory()
    host = await startHost(`sqlite:${join(cwd, 'host.sqlite3')}`, { enable_diagnostic_dump: true })
    url = `${host.origin}/error_dashboard`
  })

  afterAll(() => host?.close())

  const newest = async () => (await host.tracker.Queries.DiagnosticDumps.call()).dumps[0]

  test('prints the URL of the dump of the application', async () => {
    const { code, stdout, stderr } = await faultboardProcess(['dump', 'before the deploy', '--url', url], {
      cwd,
      env: SIGNED_IN,
    })
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
    const dump = await newest()
    expect(stdout).toBe(`${url}/errors/diagnostic_dumps/${dump?.id}\n`)
    expect(dump).toMatchObject({ note: 'before the deploy', pid: process.pid, captured_by: USER })
  })

  test('reads the note from NOTE unless an argument is given', async () => {
    await faultboard(['dump', '--url', url], { cwd, env: { ...SIGNED_IN, NOTE: 'from the environment' } })
    expect((await newest())?.note).toBe('from the environment')
    await faultboard(['dump', '--url', url, 'from the argument'], { cwd, env: { ...SIGNED_IN, NOTE: 'other' } })
    expect((await newest())?.note).toBe('from the argument')
  })

  test('prints the dump with --json, with a requested profile and report', async () => {
    const args = ['dump', '--url', url, '--json', '--report', '--cpu-profile-ms', '50']
    const { code, stdout } = await faultboard(args, { cwd, env: SIGNED_IN })
    expect(code).toBe(0)
    expect(JSON.parse(stdout).dump).toMatchObject({
      pid: process.pid,
      files: [{ kind: 'cpu_profile' }],
      report: { handles: expect.any(Object) },
    })
    expect(stdout).not.toContain(PASSWORD)
  })

  test.each(['/', '/errors', '/errors/diagnostic_dumps', '/overview', '?application_id=1'])(
    'accepts the URL of any dashboard page: %s',
    async (rest) => {
      const { code, stdout } = await faultboard(['dump', '--url', `${url}${rest}`], { cwd, env: SIGNED_IN })
      expect(code).toBe(0)
      expect(stdout).toContain(`${url}/errors/diagnostic_dumps/`)
    },
  )

  test('accepts an API token from a flag or the environment, and prints why a token is rejected', async () => {
    const create = (name: string, role: 'admin' | 'viewer') => host.tracker.Commands.CreateApiToken.call({ name, role })
    const [admin, viewer] = [await create('dumps', 'admin'), await create('reader', 'viewer')]
    const run = (env: Record<string, string>, ...flags: string[]) =>
      faultboard(['dump', '--url', url, ...flags], { cwd, env })
    const fromEnvironment = await run({ FAULTBOARD_TOKEN: admin.token, FAULTBOARD_DASHBOARD_PASSWORD: 'unused' })
    expect(fromEnvironment).toMatchObject({ code: 0, stderr: '' })
    expect(await newest()).toMatchObject({ captured_by: 'dumps' })
    const results = await Promise.all([
      run({}, '--token', admin.token, '--json'),
      run({ FAULTBOARD_TOKEN: viewer.token }),
      run({ FAULTBOARD_TOKEN: `fb_${'x'.repeat(43)}` }),
      run({}, '--token', 'two words'),
      run({}, '--token', admin.token, '--username', USER),
    ])
    expect(JSON.parse(results[0].stdout).dump).toMatchObject({ pid: process.pid })
    expect(results.map(({ code }) => code)).toEqual([0, 1, 1, 2, 2])
    expect(results[1].stderr).toContain('returned 403: This requires the role admin.')
    expect(results[2].stderr).toContain('returned 401: Unknown API token.')
    expect(results[3].stderr).toContain('The token contains invalid characters.')
    expect(results[4].stderr).toContain('Use either --token or a username and password')
    for (const { stdout, stderr } of results) expect(`${stdout}${stderr}`).not.toContain(admin.token)
  }, 60_000)

  test('reads username and password from flags, the URL or the configuration file', async () => {
    const flags = ['--username', USER, '--password', PASSWORD]
    expect((await faultboard(['dump', '--url', url, ...flags], { cwd })).code).toBe(0)
    const pageUrl = url.replace('//', `//${USER}:${encodeURIComponent(PASSWORD)}@`)
    const { code, stdout } = await faultboard(['dump', '--url', pageUrl], { cwd })
    expect(code).toBe(0)
    expect(stdout).toContain(`${url}/errors`)
    const config = JSON.stringify({ dashboard_username: USER, dashboard_password: PASSWORD })
    const configured = await workingDirectory({ 'faultboard.config.mjs': `export default ${config}` })
    expect((await faultboard(['dump', '--url', url], { cwd: configured })).code).toBe(0)
  })

  test('reports a disabled option and other errors of the application', async () => {
    const args = ['dump', '--url', url, '--heap-snapshot']
    const { code, stderr } = await faultboard(args, { cwd, env: SIGNED_IN })
    expect(code).toBe(1)
    expect(stderr).toContain('returned 404: Heap snapshots are off')
    expect(stderr).toContain('Set enable_heap_snapshots to true')
  })

  test('reports wrong credentials without printing them', async () => {
    const args = ['dump', '--url', url, '--username', USER, '--password', 'wrong-hunter2']
    const { code, stdout, stderr } = await faultboard(args, { cwd })
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' })
    expect(stderr).toContain('rejected the username or password')
    expect(stderr).not.toContain('hunter2')
  })
})

describe('faultboard dump with an unusable URL', () => {
  const serve = async (listener: RequestListener) => {
    const server = createServer(listener)
    onTestFinished(() => void server.close().closeAllConnections())
    return startListening(server)
  }
  const dump = async (url: string) =>
    faultboard(['dump', '--url', url], { cwd: await workingDirectory(), env: SIGNED_IN })

  test('reports a refused connection', async () => {
    const { code, stderr } = await dump('http://127.0.0.1:9/error_dashboard')
    expect(code).toBe(1)
    expect(stderr).toMatch(/Cannot reach .*127\.0\.0\.1:9\/error_dashboard: .*Is the application running there\?/)
  })

  test.each<[string, RequestListener]>([
    ['an HTML page of another application', (_request, response) => void response.end('<h1>Welcome</h1>')],
    ['a 404 of another application', (_request, response) => void response.writeHead(404).end('no')],
    [
      'a redirect to a sign-in form',
      (_request, response) => void response.writeHead(302, { location: '/login' }).end(),
    ],
    ['JSON of another application', (_request, response) => void response.end('{"ok":true}')],
  ])('explains the expected URL after %s', async (_name, listener) => {
    const { code, stdout, stderr } = await dump(await serve(listener))
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' })
    expect(stderr).toContain('it does not look like a dashboard. Use its URL with the mount path, such as http://')
  })

  test('escapes control sequences in the message of the server', async () => {
    const { code, stderr } = await dump(
      await serve((_request, response) => void response.writeHead(500).end('{"error":"no\\u001b[2J way"}')),
    )
    expect(code).toBe(1)
    expect(stderr).toContain('returned 500: no\\x1b[2J way')
  })

  test('does not send the password to the target of a redirect', async () => {
    const seen: (string | undefined)[] = []
    const other = await serve((request, response) => {
      seen.push(request.headers.authorization)
      response.end()
    })
    await dump(await serve((_request, response) => void response.writeHead(307, { location: other }).end()))
    expect(seen).toEqual([])
  })

  test('stops reading an endless response', async () => {
    const endlessServer = await serve((_request, response) => {
      const chunk = Buffer.alloc(1_000_000, 'x')
      const more = () => {
        while (!response.destroyed && response.write(chunk));
        if (!response.destroyed) response.once('drain', more)
      }
      more()
    })
    const { code, stderr } = await dump(endlessServer)
    expect(code).toBe(1)
    expect(stderr).toContain('too large for a dump')
  })
})

describe('faultboard dump exits with 2 and a hint for invalid usage', () => {
  test.each<[string[], string, Record<string, string>?]>([
    [['one', 'two'], 'faultboard dump takes one NOTE, not 2: quote an argument with several words'],
    [['--url'], '--url needs a value: --url URL'],
    [['--url', 'localhost:3000'], '--url must be the URL of a dashboard such as http://127.0.0.1:3000/error_dashboard'],
    [['--url', 'ftp://shop.example'], '--url must be the URL of a dashboard'],
    [['--url', 'nonsense'], '--url must be the URL of a dashboard'],
    [['--url', 'http://127.0.0.1:9'], 'The dashboard username and password are missing'],
    [['--url', 'http://127.0.0.1:9', '--username', 'ada'], 'The dashboard password is missing'],
    [['--username', 'ada'], '--username requires --url URL'],
    [['--cpu-profile-ms', '5000'], 'require a running application: add --url URL'],
    [['--heap-snapshot'], 'require a running application: add --url URL'],
    [['--cpu-profile-ms', 'long'], '--cpu-profile-ms must be a whole number from 0 to 30000'],
    [['--cpu-profile-ms', '30001'], '--cpu-profile-ms must be a whole number from 0 to 30000'],
    [['x'.repeat(1001)], 'NOTE must not be longer than 1000 characters'],
    [[], 'NOTE must not be longer than 1000 characters', { NOTE: 'x'.repeat(1001) }],
    [['--note', 'x'], '--note is not a flag of faultboard dump'],
  ])('%j', async (args, message, env = {}) => {
    const { code, stdout, stderr } = await faultboard(['dump', ...args], { cwd: await workingDirectory(), env })
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' })
    expect(stderr).toContain(message)
    expect(stderr).toContain('Run  faultboard dump --help  to see its flags.')
    expect(stderr).not.toMatch(/^\s+at /m)
  })
})

describe('faultboard dump without a URL', () => {
  test('requires an existing database', async () => {
    const { code, stderr } = await faultboard(['dump'], { cwd: await workingDirectory() })
    expect(code).toBe(1)
    expect(stderr).toContain('There is no database')
  })

  test('stores the dump without secrets and explains how to capture one of an application', async () => {
    const cwd = await workingDirectory()
    const database = `sqlite:${join(cwd, 'own.sqlite3')}`
    await faultboard(['migrate', '--database', database], { cwd })
    const env = {
      PAYMENT_KEY: 'hunter2',
      NODE_OPTIONS: '--title=token=hunter3',
      FAULTBOARD_DASHBOARD_PASSWORD: 'hunter4',
    }
    const result = await faultboard(['dump', 'manual dump', '--database', database], { cwd, env })
    expect(result).toMatchObject({ code: 0, stderr: '' })
    expect(result.stdout).toContain('Captured diagnostic dump 1 of this command')
    expect(result.stdout).toContain('enable_diagnostic_dump on, which is off here')
    expect(result.stdout).toContain('faultboard dump --url http://')
    const { stdout } = await faultboardProcess(['dump', '--database', database, '--json', '--report'], { cwd, env })
    const { dump } = JSON.parse(stdout)
    expect(dump).toMatchObject({
      id: 2,
      captured_by: 'the command line',
      environment_variables: { PAYMENT_KEY: '[HIDDEN]' },
    })
    expect(stdout).not.toMatch(/hunter\d/)
  })
})

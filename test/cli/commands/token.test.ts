import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { hashToken } from '../../../src/model/people/api-token.js'
import { withDatabase } from '../../support/tracker.js'
import { faultboard, faultboardProcess, recordErrors, workingDirectory } from '../faultboard.js'

async function createProject() {
  const cwd = await workingDirectory({ 'package.json': '{"name":"shop"}' })
  const token_hash = `sha256:${'a'.repeat(64)}`
  const env = {
    FAULTBOARD_DATABASE: `sqlite:${join(cwd, 'errors.sqlite3')}`,
    FAULTBOARD_API_TOKENS: JSON.stringify([{ name: 'deploys', role: 'admin', token_hash }]),
  }
  await recordErrors(env.FAULTBOARD_DATABASE, { error_type: 'First', message: 'x' })
  const options = { cwd, env }
  return {
    database: env.FAULTBOARD_DATABASE,
    run: (...args: string[]) => faultboard(['token', ...args], options),
    runProcess: (...args: string[]) => faultboardProcess(['token', ...args], options),
  }
}

describe('faultboard token', () => {
  test('creates, lists and revokes tokens', async () => {
    const { database, run, runProcess } = await createProject()
    const created = await runProcess('create', 'ci', '--role', 'responder', '--expires-in-days', '90')
    expect(created.code).toBe(0)
    expect(created.stdout).toMatch(/^fb_[\w-]{43}\n$/)
    expect(created.stderr).toMatch(
      /^Created the token ci with the role responder\. It expires on \d{4}-\d\d-\d\d\. Store it now: it cannot be shown again\.\n$/,
    )
    const rows = await withDatabase(database, ({ read }) =>
      read.selectFrom('faultboard_api_tokens').select(['token_hash', 'created_by']).execute(),
    )
    expect(rows).toEqual([{ token_hash: hashToken(created.stdout.trim()), created_by: 'the command line' }])
    const second = JSON.parse((await run('create', 'agent', '--json')).stdout)
    expect(second).toMatchObject({
      name: 'agent',
      role: 'viewer',
      expires_at: null,
      token: expect.stringMatching(/^fb_/),
    })
    expect((await run('list')).stdout).toMatch(
      /^NAME +ROLE +STATE +EXPIRES.*\nagent +viewer +active +never.*\nci +responder +active +\d{4}-.*\ndeploys +admin +active +never.*\n$/,
    )
    expect(await run('revoke', 'ci')).toEqual({ code: 0, stdout: 'Revoked the token ci.\n', stderr: '' })
    const { tokens } = JSON.parse((await run('list', '--json')).stdout)
    expect(tokens.map(({ name, state }: { name: string; state: string }) => [name, state])).toEqual([
      ['agent', 'active'],
      ['deploys', 'active'],
      ['ci', 'revoked'],
    ])
    const rejected = [
      [['revoke', 'ci'], 'The token ci is already revoked.'],
      [['revoke', 'deploys'], 'The token deploys is part of the option api_tokens.'],
      [['revoke', 'other'], 'No token has the name other. Run  faultboard token list  to see the names.'],
      [['create', 'agent'], 'A token with the name "agent" already exists. Choose another name.'],
    ] as const
    const results = await Promise.all(rejected.map(([args]) => run(...args)))
    for (const [i, { code, stderr }] of results.entries()) {
      expect(code).toBeGreaterThan(0)
      expect(stderr).toContain(rejected[i]?.[1])
    }
  }, 60_000)

  test('rejects invalid usage with a message', async () => {
    const cwd = await workingDirectory()
    const rejected: [string[], string][] = [
      [[], 'faultboard token requires a subcommand: token create, token list, token revoke'],
      [['create'], 'The name is missing:  faultboard token create NAME'],
      [['revoke'], 'The name is missing:  faultboard token revoke NAME'],
      [['create', 'ci', '--role', 'root'], '--role must be one of viewer, responder, admin'],
      [['create', 'ci', '--expires-in-days', '0'], '--expires-in-days must be a whole number from 1 to 3650'],
      [['create', 'x'.repeat(10_000)], 'NAME must not be longer than 255 characters'],
      [['create', 'my', 'token'], 'takes one NAME, not 2'],
    ]
    const results = await Promise.all(rejected.map(([args]) => faultboard(['token', ...args], { cwd })))
    for (const [i, { code, stdout, stderr }] of results.entries()) {
      expect({ code, stdout }).toEqual({ code: 2, stdout: '' })
      expect(stderr).toContain(rejected[i]?.[1])
    }
  }, 60_000)
})

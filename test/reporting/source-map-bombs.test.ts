import { truncateSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { describe, expect, onTestFinished, test } from 'vitest'
import { faultboard, workingDirectory } from '../cli/faultboard.js'
import { startHost } from '../support/host.js'
import { temporaryFolder, withDatabase } from '../support/tracker.js'
import { onlyError, REPORT, reportingHost } from './reporting-host.js'

const simpleMap = (overrides: object = {}) =>
  JSON.stringify({ version: 3, sources: ['src/a.ts'], names: [], mappings: 'AAAA', ...overrides })

async function store(map: string): Promise<string> {
  const host = await startHost('sqlite::memory:')
  onTestFinished(() => host.close())
  return host.tracker.Commands.StoreSourceMap.call({ release: '1', file_name: 'app.js', map }).then(
    ({ has_sources }) => (has_sources ? 'stored with sources' : 'stored'),
    (error: Error) => error.message,
  )
}

const nestedSections = (depth: number) =>
  `${'{"version":3,"sections":[{"offset":{"line":0,"column":0},"map":'.repeat(depth)}${simpleMap()}${'}]}'.repeat(depth)}`

describe('Oversized source map', () => {
  test.each<[string, () => string, RegExp]>([
    ['sections inside sections', () => nestedSections(2), /not a valid source map/],
    ['sections 5,000 levels deep', () => nestedSections(5000), /not a valid source map/],
    ['lists a million levels deep', () => '['.repeat(1_000_000), /not a valid source map/],
    ['objects a million levels deep', () => '{"a":'.repeat(1_000_000), /not a valid source map/],
    ['60,000 sections', () => sections(60_000), /not a valid source map/],
    [
      'a million sources',
      () => simpleMap({ sources: Array(1_000_000).fill('a') }),
      /not a valid source map|larger than/,
    ],
    ['a million names', () => simpleMap({ names: Array(1_000_000).fill('a') }), /not a valid source map|larger than/],
    ['an endless number', () => simpleMap({ mappings: 'g'.repeat(5_000_000) }), /not a valid source map|larger than/],
    [
      'a position beyond every file',
      () => simpleMap({ mappings: 'AAAA,+/////////////D' }),
      /not a valid source map|stored/,
    ],
    [
      '30 million lines',
      () => simpleMap({ mappings: ';'.repeat(30_000_000) }),
      /not a valid source map|larger than|stored/,
    ],
    [
      '6 million segments',
      () => simpleMap({ mappings: 'AAAA,'.repeat(6_000_000) }),
      /not a valid source map|larger than|stored/,
    ],
    ['80 MB of source text', () => simpleMap({ sourcesContent: ['x'.repeat(80_000_000)] }), /^stored$|larger than/],
  ])(
    'rejects an oversized source map or stores it within the limits: %s',
    { timeout: 120_000 },
    async (_case, bomb, outcome) => {
      expect(await store(bomb())).toMatch(outcome)
    },
  )

  function sections(count: number): string {
    const section = (line: number) => `{"offset":{"line":${line},"column":0},"map":${simpleMap()}}`
    return `{"version":3,"sections":[${Array.from({ length: count }, (_, i) => section(i)).join(',')}]}`
  }

  const LIMIT_BYTES = 2_000_000
  const bomb = gzipSync(Buffer.alloc(10 * LIMIT_BYTES, ' ')).toString('base64')
  test.each(['packed_map', 'packed_code', 'packed_sources'] as const)(
    'an oversized map in the database does not prevent recording or viewing errors: %s expands a thousandfold',
    { timeout: 120_000 },
    async (column) => {
      const database = `sqlite:${temporaryFolder()}/errors.sqlite3`
      const host = await reportingHost({}, { database, source_map_max_bytes: LIMIT_BYTES })
      const map = simpleMap({ sourcesContent: ['const a = 1'] })
      const stored = { release: '1.4.0', file_name: 'app.js', map, code: 'fail()' }
      await host.tracker.Commands.StoreSourceMap.call(stored)
      await withDatabase(database, ({ write }) =>
        write((trx) =>
          trx
            .updateTable('faultboard_source_maps')
            .set({ [column]: bomb })
            .execute(),
        ),
      )
      const stack = 'Error: x\n    at fail (https://shop.example/app.js:1:1)'
      const error = { ...REPORT, error_type: 'RangeError', message: 'x', app_version: '1.4.0', stack }
      expect((await host.post({ error })).status).toBe(201)
      const { id, backtrace } = await onlyError(host.tracker)
      expect(backtrace).toHaveLength(1)
      if (column === 'packed_map') expect(backtrace[0]).toContain('https://shop.example/app.js:1:1')
      await expect(host.tracker.Queries.FindError.call({ error_id: id })).resolves.toMatchObject({ id })
    },
  )
})

test('faultboard sourcemaps upload skips oversized and invalid maps and uploads all other maps', {
  timeout: 60_000,
}, async () => {
  const cwd = await workingDirectory({})
  const build = await workingDirectory({
    'good.js': 'fail()\n//# sourceMappingURL=good.js.map\n',
    'good.js.map': simpleMap(),
  })
  writeFileSync(join(build, 'giant.js.map'), '')
  truncateSync(join(build, 'giant.js.map'), 300 * 1024 * 1024)
  writeFileSync(join(build, 'packed.js.map'), gzipSync(Buffer.alloc(10_000_000)))
  writeFileSync(join(build, 'deep.js.map'), '['.repeat(1_000_000))
  const { stdout, stderr } = await faultboard(
    ['sourcemaps', 'upload', build, '--release', '1', '--database', `sqlite:${join(cwd, 'errors.sqlite3')}`],
    { cwd },
  )
  const output = `${stdout}${stderr}`
  expect(output).toContain('giant.js')
  expect(output).toMatch(/larger than 268435456 bytes/)
  expect(output).not.toMatch(/failed unexpectedly|heap out of memory/)
  const listed = await faultboard(['sourcemaps', 'list', '--database', `sqlite:${join(cwd, 'errors.sqlite3')}`], {
    cwd,
  })
  expect(listed.stdout).toMatch(/^1 +1 /m)
})

import { execFileSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { describeEachRuntime } from '../support/processes/runtimes.js'
import { CREDENTIALS, temporaryFolder } from '../support/tracker.js'
import { buildShop } from './built-shop.js'
import { REPORT } from './reporting-host.js'

describeEachRuntime('Host with the reporting endpoint', ({ path }) => {
  test('records errors at their original position and does not keep the process alive', async () => {
    const folder = temporaryFolder()
    const { script, map, code, stacks } = await buildShop(folder)
    const error = { ...REPORT, error_type: 'RangeError', message: 'the cart is empty' }
    const file = join(folder, 'host.json')
    writeFileSync(
      file,
      JSON.stringify({
        settings: { ...CREDENTIALS, database: `sqlite:${folder}/errors.sqlite3`, project_root: folder },
        source_map: { release: REPORT.app_version, file_name: script, map, code, folder: 'dist/assets' },
        bodies: [{ errors: Object.values(stacks).map((stack) => ({ ...error, stack })) }, { error: {} }],
      }),
    )
    const printed = execFileSync(path, ['test/reporting/hosts/client-errors.mjs', file], { encoding: 'utf8' })
    const { statuses, errors } = JSON.parse(printed)
    expect(statuses).toEqual([201, 422])
    expect(errors).toMatchObject([
      { error_type: 'RangeError', place: 'src/cart.ts:9 in priceOf', occurrence_count: 3, platform: 'Web' },
    ])
  })
})

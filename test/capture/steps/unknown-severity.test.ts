import { expect, test } from 'vitest'
import type { LogErrorInput } from '../../../src/index.js'
import { describeOneDatabase } from '../../support/databases.js'
import { freshTracker } from '../../support/tracker.js'

describeOneDatabase('unknown severity', (database) => {
  test('applies the rules to an unknown severity, counts and logs it', async () => {
    const { tracker, lines } = await freshTracker(database)
    const input = { error_type: 'TypeError', message: 'm', severity: 'urgent' } as unknown as LogErrorInput
    expect(await tracker.Commands.LogError.call(input)).toMatchObject({ severity: 'high' })
    expect((await tracker.stats()).dropped).toEqual({ unknown_severity: 1 })
    expect(lines.join('')).toContain('one of critical, high, medium, low')
  })
})

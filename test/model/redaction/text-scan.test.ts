import { expect, test } from 'vitest'
import { createRedactor } from '../../../src/model/redaction/redaction.js'

const redactor = createRedactor()

test.each([
  '--password=hunter2',
  '2password=hunter2',
  `${'x'.repeat(300)}_password=hunter2`,
  '.password: hunter2',
  'a=b;token=hunter2',
])('finds a key at any word boundary: %#', (text) => {
  expect(redactor.text(text)).not.toContain('hunter2')
})

test('scans a long word next to a separator in linear time', () => {
  const perCharacter = (length: number) => {
    const texts = Array.from({ length: 40 }, (_, i) => `a: ${'x'.repeat(length)}${i}`)
    const started = process.cpuUsage()
    for (const text of texts) redactor.text(text)
    return process.cpuUsage(started).user / (length * texts.length)
  }
  perCharacter(1000)
  expect(perCharacter(64_000)).toBeLessThan(10 * Math.max(perCharacter(1000), 0.01))
})

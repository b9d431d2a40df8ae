import { expect, test } from 'vitest'
import { displayLocation, shortPlace } from '../../../src/model/stacks/code-place.js'

const LONG = `src/${'folder/'.repeat(90)}cart.ts:12`

test.each([
  ['src/cart.ts:12 in total', 'src/cart.ts:12 in total'],
  [`${LONG} in total`, '…older/folder/folder/cart.ts:12 in total'],
  [LONG, '…/folder/folder/folder/folder/cart.ts:12'],
  [`a.ts:1 in ${'name'.repeat(30)}`, 'a.ts:1 in namenamenamenamenamenamenamen…'],
  [`${LONG} in ${'name'.repeat(30)}`, '…r/folder/cart.ts:12 in namenamenamenam…'],
])('shortens %s to its end', (place, shortened) => {
  expect(shortPlace(place, 40).length).toBeLessThanOrEqual(40)
  expect(shortPlace(place, 40)).toBe(shortened)
})

test('stores the end of a long path', () => {
  const place = displayLocation([`at total (/srv/${LONG}:5)`], '/srv')
  expect(place).toHaveLength(500)
  expect(place).toMatch(/^….*folder\/cart\.ts:12 in total$/)
})

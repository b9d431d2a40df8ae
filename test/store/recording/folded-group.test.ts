import { expect, test } from 'vitest'
import type { ErrorEvent } from '../../../src/model/event.js'
import { FoldedGroup, storedPayload } from '../../../src/store/recording/folded-group.js'

const EVENT = {
  ...{ hash_signature: 'a', error_type: 'E', message: 'm', severity: 'low', platform: 'API', app_version: null },
  ...{ git_sha: null, user_id: null, request_url: null, user_agent: null, causes: [], context: {} },
}

function spooledGroup(places: (string[] | null)[]): FoldedGroup {
  const backtrace = ['at pay (shop.js:1:1)', 'at main (shop.js:9:1)']
  const events = places.map(
    (signature_place, i) => ({ ...EVENT, backtrace, signature_place, occurred_at: i }) as unknown as ErrorEvent,
  )
  const group = new FoldedGroup(events[0] as ErrorEvent)
  for (const event of events) group.add(event, 10)
  return FoldedGroup.fromJSON(JSON.parse(JSON.stringify(group)))
}

test('serializes the stack of repeats from the spool once', () => {
  const [first, second] = spooledGroup([['shop.js:pay'], ['shop.js:pay']]).kept.map(storedPayload)
  expect(second).toBe(first)
})

test.each([[['shop.js:refund']], [['shop.js:pay', 'shop.js:main']], [null]])(
  'serializes the stack again for another location: %j',
  (place) => {
    const [first, second] = spooledGroup([['shop.js:pay'], place]).kept.map(storedPayload)
    expect(JSON.parse(first?.content ?? '').signature_place).toEqual(['shop.js:pay'])
    expect(JSON.parse(second?.content ?? '').signature_place).toEqual(place)
  },
)

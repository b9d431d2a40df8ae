import { expect, test } from 'vitest'
import { htmlResponse } from '../../../src/dashboard/http/responses.js'
import { YieldingList } from '../../../src/dashboard/ui/yielding-list.js'
import { countIterations } from '../../support/event-loop.js'

/** Blocks the thread for longer than the limit. */
function Slow({ word }: { word: string }) {
  const until = performance.now() + 10
  while (performance.now() < until);
  return <li>{word}</li>
}

test('yields to the event loop during long rendering and keeps the order of parts', async () => {
  const words = ['one', 'two', '<script>', 'four', 'five']
  let html = ''
  const iterations = await countIterations(async () => {
    const page = await htmlResponse(
      <ul>
        <YieldingList items={words} render={(word) => <Slow word={word} />} />
      </ul>,
    )
    html = await page.text()
  })
  expect(html).toBe('<ul><li>one</li><li>two</li><li>&lt;script&gt;</li><li>four</li><li>five</li></ul>')
  expect(iterations).toBeGreaterThanOrEqual(words.length)
})

test('converts a page to a response in an iteration after its last part', async () => {
  expect(await countIterations(() => htmlResponse(<p>Short</p>))).toBeGreaterThanOrEqual(1)
})

import { describe, expect, test } from 'vitest'
import { parseFrame } from '../../../src/model/stacks/backtrace.js'
import { type FrameVariables, matchVariables, parseFrameVariables } from '../../../src/model/stacks/frame-variables.js'

const frame = (line: string) => parseFrame(line, '/app')
const variables = (name: string | null, line_number: number, file = 'src/cart.ts'): FrameVariables => ({
  ...{ function: name, file, line_number },
  variables: { line_number },
})

describe('frame variables', () => {
  test('assigns variables to the frame at the same location', () => {
    const frames = [frame('at Cart.total (/app/src/cart.ts:12:5)'), frame('at pay (/app/src/pay.ts:3:1)')]
    const [first, second] = frames
    const expected = [variables('total', 12), variables('pay', 3, 'src/pay.ts')]
    const { matched, unmatched } = matchVariables(frames, expected)
    expect([first, second].map((frame) => frame && matched.get(frame))).toEqual(expected)
    expect(unmatched).toEqual([])
  })

  test('assigns variables to a frame of the same function on a different line', () => {
    const frames = [frame('at async Cart.total [as sum] (/app/src/cart.ts:12:5)')]
    expect(matchVariables(frames, [variables('total', 15)]).matched.size).toBe(1)
  })

  test('assigns variables of a recursion to one frame each', () => {
    const frames = [12, 12, 12].map((line) => frame(`at walk (/app/src/cart.ts:${line}:5)`))
    const expected = [variables('walk', 12), { ...variables('walk', 12), variables: { depth: 2 } }]
    const { matched, unmatched } = matchVariables(frames, expected)
    expect([...matched.values()]).toEqual(expected)
    expect(matched.has(frames[2] as (typeof frames)[0])).toBe(false)
    expect(unmatched).toEqual([])
  })

  test('returns variables without a frame as unmatched', () => {
    const other = variables('refund', 4, 'src/refund.ts')
    expect(matchVariables([frame('at pay (/app/src/pay.ts:3:1)')], [other]).unmatched).toEqual([other])
  })

  test.each([null, undefined, 'text', { order: 1 }, [null, 1, [], {}, { variables: 1 }, { file: 'x' }]])(
    'returns no variables for malformed stored data: %j',
    (stored) => expect(parseFrameVariables(stored)).toEqual([]),
  )
})

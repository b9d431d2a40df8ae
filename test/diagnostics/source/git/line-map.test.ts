import { expect, test } from 'vitest'
import { lineBefore } from '../../../../src/diagnostics/source/git/line-map.js'

const BEFORE = Array.from({ length: 40 }, (_, i) => (i % 4 === 3 ? '}' : `line ${i + 1}`))

test('finds a line between any number of edits', () => {
  const now = BEFORE.with(4, 'edited')
    .with(20, 'edited too')
    .toSpliced(30, 2)
    .toSpliced(9, 0, 'one more', '}', 'another')
  expect(lineBefore(now, BEFORE, 1)).toBe(1)
  expect(lineBefore(now, BEFORE, 5)).toBe('new')
  for (const text of ['line 6', 'line 10', 'line 19', 'line 30', 'line 33', 'line 39']) {
    expect(lineBefore(now, BEFORE, now.indexOf(text) + 1), text).toBe(BEFORE.indexOf(text) + 1)
  }
  for (const text of ['one more', 'another', 'edited too']) {
    expect(lineBefore(now, BEFORE, now.indexOf(text) + 1), text).toBe('new')
  }
})

test('finds a repeated line by its neighbors', () => {
  const now = BEFORE.with(4, 'edited').with(20, 'edited too')
  expect(lineBefore(now, BEFORE, 8)).toBe(8)
  expect(lineBefore(now, BEFORE, 16)).toBe(16)
})

test('returns unclear for moved or ambiguous lines', () => {
  expect(lineBefore(['b', 'c', 'd', 'x', 'a'], ['a', 'b', 'c', 'd', 'y'], 5)).toBe('unclear')
  expect(lineBefore(['x', 'a', 'y', 'a', 'z'], ['1', 'a', '2', 'a', '3', 'a', '4'], 2)).toBe('unclear')
})

test('returns unclear if the changed section is too long', () => {
  const long = Array.from({ length: 30_000 }, (_, i) => `line ${i}`)
  const now = long.with(0, 'first').with(29_999, 'last')
  expect(lineBefore(now, long, 15_000)).toBe('unclear')
  expect(lineBefore(now, long, 1)).toBe('new')
})

test('maps lines to equal lines in order and marks only new lines as new after random edits', () => {
  let seed = 7
  const random = (below: number) => {
    seed = (seed * 1_103_515_245 + 12_345) % 2_147_483_648
    return Math.floor((seed / 2_147_483_648) * below)
  }
  for (let i = 0; i < 200; i++) {
    const before = Array.from({ length: 1 + random(60) }, () => `${random(40)}`)
    const now = [...before]
    for (let edits = random(8); edits > 0; edits--) now.splice(random(now.length + 1), random(3), `${random(60)}`)
    const places = now.map((_, line) => lineBefore(now, before, line + 1))
    for (const [line, place] of places.entries()) {
      const text = now[line] ?? ''
      if (typeof place === 'number') expect(before[place - 1]).toBe(text)
      else expect(before.includes(text)).toBe(place === 'unclear')
    }
    const found = places.filter((place) => typeof place === 'number')
    expect(found).toEqual([...new Set(found)].sort((a, b) => a - b))
  }
})

import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { expect } from 'vitest'

/**
 * Inserts the code that `init` printed where the fixture has the printed place as a comment, and creates new files.
 * Returns the changed files.
 */
export function insertSteps(folder: string, printed: string): string[] {
  const steps = [...printed.matchAll(/^(\S+), (.*):\n\n((?: {2}.*\n|\n(?= {2}))+)/gm)]
  expect(steps.length).toBeGreaterThan(1)
  for (const [, path = '', place, indented = ''] of steps) {
    const file = join(folder, path)
    const code = indented.replace(/^ {2}/gm, '')
    if (place === 'a new file') {
      mkdirSync(dirname(file), { recursive: true })
      writeFileSync(file, code, { flag: 'wx' })
      continue
    }
    const source = readFileSync(file, 'utf8')
    expect(source).toContain(`// ${place}\n`)
    writeFileSync(
      file,
      source.replace(`// ${place}\n`, () => code),
    )
  }
  return [...new Set(steps.map(([, path = '']) => path))]
}

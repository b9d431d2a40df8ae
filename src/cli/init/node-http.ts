import { importEdit, importedAs, namesOf } from './code-style.js'
import type { LineEdit } from './file-change.js'
import { firstPlan } from './first-plan.js'
import type { Framework } from './framework.js'
import { declaredFunction, isFunction } from './functions.js'
import { closingOf } from './masked-source.js'
import type { SourceFile } from './source-file.js'
import { wrapping } from './wrapping.js'

export const nodeHttp: Framework = {
  name: 'node:http',
  package: null,
  lines: [
    "import { withFaultboard } from 'faultboard/node'",
    'createServer(withFaultboard((request, response) => { … }))',
  ],
  plan: (host) => firstPlan(host, { name: 'node:http', makes: usesNodeHttp, edits }),
}

const MODULES = ['node:http', 'http', 'node:https', 'https']

function edits(file: SourceFile): LineEdit[] | null {
  const masked = file.masked ?? ''
  const calls = MODULES.flatMap((module) => {
    const { default: whole, createServer } = namesOf(file, module)
    const names = [whole && `${whole}\\.createServer`, createServer].filter((name) => name !== undefined)
    return names.flatMap((name) => [...masked.matchAll(new RegExp(`(?<![\\w$.])${name}\\(`, 'g'))])
  })
  const [call] = calls
  if (!call || calls.length > 1) return null
  const open = call.index + call[0].length - 1
  const listener = onlyArgument(masked, open, closingOf(masked, open))
  if (!listener || !isListener(file, masked.slice(listener.from, listener.to))) return null
  const names = importedAs(['withFaultboard'], file)
  return [
    importEdit(file, { names, from: 'faultboard/node', latest: lineOf(file, call.index) }),
    ...wrapping(file.source, { ...listener, by: names.withFaultboard ?? '' }),
  ]
}

/** Whether a file makes servers of Node.js itself. */
export function usesNodeHttp(file: SourceFile): boolean {
  return MODULES.some((module) => {
    const { default: whole, createServer } = namesOf(file, module)
    return createServer !== undefined || (whole !== undefined && file.source.includes(`${whole}.createServer(`))
  })
}

/** The options of a server look like a listener, unless the file says what it is. */
function isListener({ statements }: SourceFile, argument: string): boolean {
  return isFunction(argument) || statements.some((statement) => declaredFunction(statement) === argument)
}

/** Where the one argument of a call stands; null for none, or for options before the listener. */
function onlyArgument(masked: string, open: number, close: number): { from: number; to: number } | null {
  const inside = masked.slice(open + 1, close).replace(/,\s*$/, '')
  let depth = 0
  for (const character of inside) {
    if ('([{'.includes(character)) depth++
    if (')]}'.includes(character)) depth--
    if (character === ',' && depth === 0) return null
  }
  const from = open + 1 + (inside.length - inside.trimStart().length)
  return inside.trim() === '' ? null : { from, to: open + 1 + inside.trimEnd().length }
}

/** The first line of the top-level statement around this place. */
function lineOf({ source, statements }: SourceFile, at: number): number {
  const line = source.slice(0, at).split('\n').length - 1
  return statements.findLast(({ start }) => start <= line)?.start ?? line
}

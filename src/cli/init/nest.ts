import { importEdit, importedAs, namesOf } from './code-style.js'
import type { LineEdit } from './file-change.js'
import { callsIn, firstPlan } from './first-plan.js'
import type { Framework } from './framework.js'
import { closingOf } from './masked-source.js'
import type { SourceFile } from './source-file.js'
import { wrapping } from './wrapping.js'

export const nest: Framework = {
  name: 'NestJS',
  package: '@nestjs/core',
  least_major: 11,
  lines: [
    "import { faultboard } from 'faultboard/nest'",
    'const app = faultboard(await NestFactory.create(AppModule)) // before listen or init',
  ],
  plan: (host) => firstPlan(host, { name: 'NestJS', makes, edits }),
}

function makes(file: SourceFile): boolean {
  const { NestFactory } = namesOf(file, '@nestjs/core')
  return callsIn(file, NestFactory && `${NestFactory}\\s*\\.\\s*create`, '@nestjs/core')
}

function edits(file: SourceFile): LineEdit[] | null {
  const { NestFactory } = namesOf(file, '@nestjs/core')
  const masked = file.masked ?? ''
  const calls = [...masked.matchAll(new RegExp(`=\\s*(await\\s+${NestFactory}\\s*\\.create(?:<[^()]*>)?\\()`, 'g'))]
  const [call] = calls
  if (!NestFactory || !call || calls.length > 1) return null
  // What goes on after the call, such as a catch, belongs to the promise.
  if (/^\s*[.?![(]/.test(masked.slice(closingOf(masked, call.index + call[0].length - 1) + 1))) return null
  const names = importedAs(['faultboard'], file)
  const from = call.index + call[0].length - (call[1]?.length ?? 0)
  const to = closingOf(masked, call.index + call[0].length - 1) + 1
  return [
    importEdit(file, { names, from: 'faultboard/nest', latest: Number.POSITIVE_INFINITY }),
    ...wrapping(file.source, { from, to, by: names.faultboard ?? '' }),
  ]
}

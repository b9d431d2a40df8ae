import { importEdit, importedAs, namesOf } from './code-style.js'
import { type CreatedApp, createdApp, firstPlace, insertion, named } from './created-app.js'
import type { LineEdit } from './file-change.js'
import { callsIn, firstPlan } from './first-plan.js'
import type { Framework } from './framework.js'
import { declaredFunction } from './functions.js'
import type { Host } from './host.js'
import { namesElsewhere } from './other-files.js'
import type { SourceFile } from './source-file.js'
import type { Statement } from './statements.js'

export const express: Framework = {
  name: 'Express',
  package: 'express',
  least_major: 4,
  lines: [
    "import { capture, dashboard } from 'faultboard/express'",
    'app.use(dashboard()) // before your routes',
    'app.use(capture())   // after your routes, before your own error handlers',
  ],
  call: ({ default: whole }) => whole,
  plan: (host) => firstPlan(host, { name: 'Express', makes, edits }),
}

function makes(file: SourceFile): boolean {
  return callsIn(file, namesOf(file, 'express').default, 'express')
}

function edits(file: SourceFile, { files }: Host): LineEdit[] | null {
  const { default: call } = namesOf(file, 'express')
  const app = createdApp(file, call, 'express')
  const first = app && firstPlace(file, app)
  const last = app && lastPlace(file, app)
  if (!app || !first || last === null || first > last || hasRoutesElsewhere(file, files)) return null
  const names = importedAs(['capture', 'dashboard'], file)
  return [
    importEdit(file, { names, from: 'faultboard/express', latest: app.statement.start }),
    insertion(file, first, `${app.name}.use(${names.dashboard}())`),
    apart(file, insertion(file, last, `${app.name}.use(${names.capture}())`)),
  ]
}

/** After the last route, before the first error handler; null where that is not sure. */
function lastPlace(file: SourceFile, { name, statement }: CreatedApp): number | null {
  const app = named(name)
  const later = file.statements.filter(({ start }) => start >= statement.end)
  if (later.some(({ masked }) => mayHandleErrors(masked, app))) return null
  const listening = listeningServers(later, app)
  const end = later.findIndex(({ masked }) => isErrorHandler(masked, app) || isEnd(masked, app, listening))
  const lines = file.source.split('\n')
  if (end === -1) return isExported(statement) ? lines.length - (lines.at(-1) === '' ? 1 : 0) : null
  const users = later.slice(0, end).filter(({ masked }) => new RegExp(app).test(masked))
  const names = users.map(declaredFunction).filter((one) => one !== null)
  const strays = new RegExp([app, ...names.map(named)].join('|'))
  const isStray = ({ masked }: Statement) =>
    !isErrorHandler(masked, app) && !isExport(masked, app) && strays.test(masked.replace(harmless(app), ''))
  return later.slice(end).some(isStray) ? null : aboveComments(file, later[end]?.start ?? 0)
}

function isEnd(masked: string, app: string, listening: readonly string[]): boolean {
  if ([app, ...listening].some((one) => new RegExp(`${one}\\s*\\.listen\\(`).test(masked))) return true
  const isServer = new RegExp(servers(app)).test(masked) && !listening.includes(named(declaredName(masked)))
  return isServer || isExport(masked, app)
}

/** The servers that are made before the routes and listen after them. */
function listeningServers(later: readonly Statement[], app: string): string[] {
  const made = later.filter(({ masked }) => new RegExp(servers(app)).test(masked) && declaredName(masked) !== '')
  const names = made.map(({ masked }) => named(declaredName(masked)))
  return names.filter((name) => later.some(({ masked }) => new RegExp(`${name}\\s*\\.listen\\(`).test(masked)))
}

function declaredName(masked: string): string {
  return /^(?:export\s+)?(?:const|let|var)\s+([\w$]+)/.exec(masked)?.[1] ?? ''
}

function isExported({ masked }: Statement): boolean {
  return masked.startsWith('export')
}

function isExport(masked: string, app: string): boolean {
  return new RegExp(`^(export\\s+(default\\s|\\{)|export\\s*=|module\\.exports\\b|exports\\.)[^(]*${app}`).test(masked)
}

function servers(app: string): string {
  return `createServer\\([^()]*${app}\\s*\\)`
}

/** What may be done with an application whose routes are complete: to listen, and to read a setting. */
function harmless(app: string): RegExp {
  return new RegExp(`${app}\\.listen\\(|${app}\\.get\\((['"])_*\\1\\)|${servers(app)}`, 'g')
}

const PARAMETER = '\\s*[\\w$]+[^,()]*'
const FOUR = `(async\\s+)?(function\\s*[\\w$]*\\s*)?\\(${PARAMETER},${PARAMETER},${PARAMETER},${PARAMETER}\\)`
const BY_NAME = '(?![\\w$.]*[rR]out)[\\w$.]*[eE]rr(or)?s?([A-Z]\\w*|\\b)'

/** Four parameters are what Express itself knows an error handler by; a handler from elsewhere is known by its name. */
function isErrorHandler(masked: string, app: string): boolean {
  return new RegExp(`^${app}\\.use\\(\\s*(([^,(){}]+,\\s*)?${FOUR}|${BY_NAME})`).test(masked)
}

/** Below a path a name may as well be that of a router, and four parameters further on those of anything. */
function mayHandleErrors(masked: string, app: string): boolean {
  const doubtful = `[^,(){}]+,\\s*${BY_NAME}\\s*[,)]|[^]*${FOUR}\\s*(:[^=()]*)?(=>|\\{)`
  return !isErrorHandler(masked, app) && new RegExp(`^${app}\\.use\\((${doubtful})`).test(masked)
}

const ROUTING = 'use|all|get|head|post|put|patch|delete|options|route|param'

/** Whether another file gives the application routes, which would come after what is to be the last. */
function hasRoutesElsewhere({ path }: SourceFile, files: readonly SourceFile[]): boolean {
  return namesElsewhere(path, files).some(({ other, name }) => {
    const app = named(name)
    const left = (other.masked ?? '').replace(harmless(app), '')
    return new RegExp(`${app}\\s*\\.(${ROUTING})\\s*\\(|[(,]\\s*${app}\\s*[,)]`).test(left)
  })
}

/** Keeps the blank line above what comes next. */
function apart({ source }: SourceFile, edit: LineEdit): LineEdit {
  const lines = source.split('\n')
  const stands = edit.line < lines.length - 1 && (lines[edit.line - 1] ?? '').trim() === ''
  return stands ? { ...edit, insert: [...edit.insert, ''] } : edit
}

/** A comment belongs to the statement below it. */
function aboveComments({ source, masked }: SourceFile, line: number): number {
  const lines = source.split('\n')
  const code = (masked ?? '').split('\n')
  let at = line
  while (at > 0 && (code[at - 1] ?? '').trim() === '' && (lines[at - 1] ?? '').trim() !== '') at--
  return at
}

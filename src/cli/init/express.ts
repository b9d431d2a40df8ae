import { importEdit, importedAs, namesOf, styleOf } from './code-style.js'
import { type CreatedApp, createdApp, firstPlace, insertion, named } from './created-app.js'
import type { LineEdit } from './file-change.js'
import { firstPlan } from './first-plan.js'
import type { Framework } from './framework.js'
import type { SourceFile } from './host.js'

export const express: Framework = {
  name: 'Express',
  package: 'express',
  least_major: 4,
  lines: [
    "import { capture, dashboard } from 'faultboard/express'",
    'app.use(dashboard()) // before your routes',
    'app.use(capture())   // after your routes, before your own error handlers',
  ],
  plan: (host) => firstPlan(host, 'Express', edits),
}

const ROUTING = 'use|get|post|put|patch|delete|all|route|options|head'

function edits(file: SourceFile): LineEdit[] | null {
  const { default: call } = namesOf(file, 'express')
  const app = createdApp(file, call, 'express')
  const last = app && lastPlace(file, app)
  if (!app || !last) return null
  const names = importedAs(['capture', 'dashboard'], file)
  const { semicolon } = styleOf(file)
  return [
    importEdit(file, { names, from: 'faultboard/express', latest: app.statement.start }),
    insertion(firstPlace(file, app), `${app.name}.use(${names.dashboard}())${semicolon}`),
    insertion(last.line, `${app.name}.use(${names.capture}())${semicolon}`, ...(last.stands_apart ? [''] : [])),
  ]
}

/** After the last route, before the first error handler; null where that is not sure. */
function lastPlace(file: SourceFile, { name, statement }: CreatedApp) {
  const app = named(name)
  const later = file.statements.filter(({ start }) => start >= statement.end)
  const end = later.find(({ masked }) => isErrorHandler(masked, app) || isEnd(masked, app))
  const isExported = statement.masked.startsWith('export')
  if (!end && !isExported) return null
  const routes = new RegExp(`${app}\\.(${ROUTING})\\(|[(,]\\s*${app}\\s*[,)]`)
  const behind = end ? later.slice(later.indexOf(end)) : []
  const strays = behind.filter(
    ({ masked }) =>
      routes.test(masked.replace(servers(app), '')) && !isErrorHandler(masked, app) && !isExport(masked, app),
  )
  if (strays.length > 0) return null
  const lines = file.source.split('\n')
  const line = end ? aboveComments(file, end.start) : lines.at(-1) === '' ? lines.length - 1 : lines.length
  return { line, stands_apart: line < lines.length - 1 && (lines[line - 1] ?? '').trim() === '' }
}

function isEnd(masked: string, app: string): boolean {
  return new RegExp(`${app}\\.listen\\(|${servers(app).source}`).test(masked) || isExport(masked, app)
}

function isExport(masked: string, app: string): boolean {
  return new RegExp(`^(export\\s+(default\\s|\\{)|module\\.exports\\b|exports\\.)[^(]*${app}`).test(masked)
}

function servers(app: string): RegExp {
  return new RegExp(`createServer\\([^()]*${app}\\s*\\)`, 'g')
}

/** Four parameters are what Express itself knows an error handler by; a handler from elsewhere is known by its name. */
function isErrorHandler(masked: string, app: string): boolean {
  const parameter = '\\s*[\\w$]+[^,()]*'
  const four = `(async\\s+)?(function\\s*[\\w$]*\\s*)?\\(${parameter},${parameter},${parameter},${parameter}\\)`
  return new RegExp(`^${app}\\.use\\(\\s*(${four}|[\\w$.]*[eE]rr(or)?s?([A-Z]\\w*|\\b))`).test(masked)
}

/** A comment belongs to the statement below it. */
function aboveComments({ source, masked }: SourceFile, line: number): number {
  const lines = source.split('\n')
  const code = (masked ?? '').split('\n')
  let at = line
  while (at > 0 && (code[at - 1] ?? '').trim() === '' && (lines[at - 1] ?? '').trim() !== '') at--
  return at
}

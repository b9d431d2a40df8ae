import { importEdit, importedAs, namesOf } from './code-style.js'
import { type CreatedApp, createdApp, firstPlace, insertion, named } from './created-app.js'
import { callsIn, firstPlan } from './first-plan.js'
import type { Framework } from './framework.js'
import { isPartOfAnother } from './other-files.js'
import type { SourceFile } from './source-file.js'
import type { Statement } from './statements.js'

interface Recipe {
  readonly name: string
  readonly package: string
  readonly subpath: string
  readonly least_major?: number
  /** How the application is made, by what the file calls the package. */
  call(names: Readonly<Record<string, string>>): string | undefined
  /** What is written after it. */
  line(app: string, faultboard: string): string
  /** Where, unless it is the first place. */
  place?(file: SourceFile, app: CreatedApp): number | null
}

/** Frameworks in which one line after the making of the application is all. */
function oneLine(recipe: Recipe): Framework {
  const { name, subpath, call, line, place = firstPlace } = recipe
  return {
    name,
    package: recipe.package,
    ...(recipe.least_major && { least_major: recipe.least_major }),
    lines: [`import { faultboard } from 'faultboard/${subpath}'`, `${line('app', 'faultboard')} // first of all`],
    call,
    plan: (host) =>
      firstPlan(host, {
        name,
        makes: (file) => callsIn(file, call(namesOf(file, recipe.package)), recipe.package),
        edits(file, { files }) {
          const app = createdApp(file, call(namesOf(file, recipe.package)), recipe.package)
          const at = app && place(file, app)
          if (!app || at === null || isPartOfAnother(file, files)) return null
          const names = importedAs(['faultboard'], file)
          return [
            importEdit(file, { names, from: `faultboard/${subpath}`, latest: app.statement.start }),
            insertion(file, at, line(app.name, names.faultboard ?? '')),
          ]
        },
      }),
  }
}

export const fastify = oneLine({
  name: 'Fastify',
  package: 'fastify',
  subpath: 'fastify',
  least_major: 5,
  call: ({ default: whole, fastify: own, Fastify }) => whole ?? own ?? Fastify,
  line: (app, faultboard) => `${app}.register(${faultboard})`,
})

export const koa = oneLine({
  name: 'Koa',
  package: 'koa',
  subpath: 'koa',
  least_major: 3,
  call: ({ default: whole }) => (whole ? `new\\s+${whole}` : undefined),
  line: (app, faultboard) => `${app}.use(${faultboard}())`,
  place: behindCatching,
})

export const hono = oneLine({
  name: 'Hono',
  package: 'hono',
  subpath: 'hono',
  least_major: 4,
  call: ({ Hono }) => (Hono ? `new\\s+${Hono}` : undefined),
  line: (app, faultboard) => `${app}.use(${faultboard}())`,
})

export const h3 = oneLine({
  name: 'h3',
  package: 'h3',
  subpath: 'h3',
  least_major: 2,
  call: ({ H3 }) => (H3 ? `new\\s+${H3}` : undefined),
  line: (app, faultboard) => `${app}.register(${faultboard}())`,
})

/** A middleware that turns errors into answers has to stand before ours, or there is nothing left to see. */
function behindCatching(file: SourceFile, app: CreatedApp): number | null {
  const first = firstPlace(file, app)
  const use = new RegExp(`^${named(app.name)}\\.use\\(`)
  const own = file.statements.filter(({ start, masked }) => start >= app.statement.end && use.test(masked))
  const catching = own.filter(isCatching)
  const place = first && Math.max(first, ...catching.map(({ end }) => end))
  const isRoute = ({ end, masked }: Statement) => place !== null && end <= place && /rout(e|ing)/i.test(masked)
  // What comes before ours is not seen by it.
  return own.some((one) => !catching.includes(one) && isRoute(one)) ? null : place
}

/** What catches around `next()`; what catches anything else is a page like others. */
function isCatching({ masked }: Statement): boolean {
  if (/\bcatch\b/.test(masked)) return /\bnext\s*\(/.test(masked)
  return /\.use\(\s*[\w$.]*[eE]rr(or)?/.test(masked) && !/rout(e|ing)/i.test(masked)
}

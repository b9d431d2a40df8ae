import { dirname, join, normalize } from 'node:path'
import { namesOf } from './code-style.js'
import { named } from './created-app.js'
import { type SourceFile, specifiersOf } from './source-file.js'

/** What other files call that which they import from a file. */
export function namesElsewhere(path: string, files: readonly SourceFile[]): { other: SourceFile; name: string }[] {
  return files.flatMap((other) =>
    specifiersOf(other)
      .filter((specifier) => bare(join(dirname(other.path), specifier)) === bare(path))
      .flatMap((specifier) => Object.values(namesOf(other, specifier)).map((name) => ({ other, name }))),
  )
}

/** Whether another file makes an application a part of another one: then it is not the whole. */
export function isPartOfAnother({ path }: SourceFile, files: readonly SourceFile[]): boolean {
  return namesElsewhere(path, files).some(({ other, name }) =>
    new RegExp(`(?:\\.(?:use|route|register)|(?<![\\w$])mount)\\s*\\([^()]*${named(name)}`).test(other.masked ?? ''),
  )
}

function bare(path: string): string {
  return normalize(path).replace(/\.[cm]?[jt]s$/, '')
}

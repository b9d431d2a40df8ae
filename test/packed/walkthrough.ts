import { readFileSync } from 'node:fs'

/** Parsed section of docs/getting-started.md. */
export interface Walkthrough {
  title: string
  /** Packages to install, without versions. */
  packages: string[]
  files: { path: string; text: string }[]
  /** Commands that start the application, in order. */
  start: string[]
  /** Path that causes the error. */
  path: string
}

export function walkthroughs(): Walkthrough[] {
  const [, ...sections] = readFileSync('docs/getting-started.md', 'utf8').split(/^## /m)
  return sections.filter((section) => section.includes('npm init')).map(read)
}

function read(section: string): Walkthrough {
  const commands = [...section.matchAll(/^```sh\n(.*?)^```/gms)].map((match) => (match[1] ?? '').trim().split('\n'))
  const files = [...section.matchAll(/^`([^`]+)`:\n\n```\w+\n(.*?)^```/gms)]
  const installs = commands[0]?.filter((line) => line.startsWith('npm install')) ?? []
  return {
    title: section.split('\n', 1)[0] ?? '',
    packages: installs.flatMap((line) => line.split(' ').slice(2)).flatMap((word) => nameOf(word) ?? []),
    files: files.map(([, path = '', text = '']) => ({ path, text })),
    start: commands[1] ?? [],
    path: /<http:\/\/localhost:3000([^>]*)> once/.exec(section)?.[1] ?? '',
  }
}

function nameOf(word: string): string | null {
  return word.startsWith('-') ? null : word.replace(/(?<=.)@.*$/, '')
}

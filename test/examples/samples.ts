import { readdirSync, readFileSync } from 'node:fs'

/** Fenced block of the README or of a page in docs. */
export interface Sample {
  /** Page and heading, with a number if the heading has several blocks of the same language. */
  name: string
  /** Page and heading. */
  section: string
  language: string
  text: string
  /** File name that the line before the block or its first line contains. */
  path: string | null
}

const HEADING = /^#+ (.+)$/
const BLOCK = /(?:^`([\w./[\]-]+\.\w+)`(?:,.*| \(.*\))?:\n\n)?^```(.*)\n([\s\S]*?)^```$/
const HEADING_OR_BLOCK = new RegExp(`${HEADING.source}|${BLOCK.source}`, 'gm')

export function readSamples(): Sample[] {
  const pages = readdirSync('docs').filter((name) => name.endsWith('.md'))
  return ['README.md', ...pages.map((name) => `docs/${name}`)].flatMap(readPage)
}

function readPage(page: string): Sample[] {
  const samples: Sample[] = []
  let section = page
  for (const match of readFileSync(page, 'utf8').matchAll(HEADING_OR_BLOCK)) {
    const [, heading, pathBefore, language = '', text = ''] = match
    if (heading !== undefined) {
      section = `${page} > ${heading}`
      continue
    }
    const number = samples.filter((sample) => sample.section === section && sample.language === language).length + 1
    const path = pathBefore ?? /^\/\/ ([\w./-]+\.\w+)\n/.exec(text)?.[1] ?? null
    samples.push({ name: number === 1 ? section : `${section} (${number})`, section, language, text, path })
  }
  return samples
}

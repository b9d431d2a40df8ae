import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'

/** Folders whose comments, strings, identifiers and test titles are in plain English. Add a folder once it passes. */
const CLEAN_FOLDERS = [
  'bench',
  'demo',
  'docs',
  'examples',
  'scripts',
  'src/adapters',
  'src/analytics',
  'src/audit',
  'src/browser',
  'src/capture',
  'src/cli',
  'src/config',
  'src/dashboard',
  'src/diagnostics',
  'src/health',
  'src/html',
  'src/jobs',
  'src/mcp',
  'src/model',
  'src/notifications',
  'src/people',
  'src/reporting',
  'src/store',
  'src/subscribers',
  'src/testing',
  'src/transfer',
  'src/triage',
  'test/adapters',
  'test/analytics',
  'test/bench',
  'test/browser',
  'test/browser-client',
  'test/cli',
  'test/capture',
  'test/config',
  'test/contract',
  'test/dashboard',
  'test/diagnostics',
  'test/examples',
  'test/jobs',
  'test/mcp',
  'test/model',
  'test/notifications',
  'test/packed',
  'test/reporting',
  'test/store',
  'test/spec',
  'test/structure',
  'test/subscribers',
  'test/support',
  'test/testing',
  'test/transfer',
  'test/triage',
]

const CLEAN_FILES = [
  ...['README.md', 'CONTRIBUTING.md', 'CHANGELOG.md', 'SECURITY.md'],
  ...readdirSync('src')
    .filter((name) => name.endsWith('.ts'))
    .map((name) => join('src', name)),
]

/** Phrases with a plain equivalent in every context. */
const REJECTED_PHRASES = [
  // Pronouns that hide which process, row or user is meant.
  /\b(whoever|whosoever|somebody|nobody|anybody|everybody)('?s)?\b/gi,
  /\bof (ours|theirs|its own accord)\b/gi,
  // Data does not speak: it shows, contains, reports or returns.
  /\b(tells|told|telling)\b/gi,
  /\b(is|are|was|were|be|been|being) asked\b/gi,
  /\b(is|are) (said|answered) (by|with|of|as|to|in)\b/gi,
  /\bstands (for|in|here|there|beside|below|above|at|on|with|to)\b/gi,
  // Paraphrases of a term of art: retry, limit, duration, occurrence, severity, automatically.
  /\bso (long|many)\b/gi,
  /\b(by itself|by themselves|for ever|meanwhile|too dear)\b/gi,
  /\b(graver|gravest|thrice|wherein|thereof|lest|mended|mends|befalls?)\b/gi,
  /\b(goes by|as it stands|governed by|in whatever|to be had|now and then|in vain|as good as new|one upon the other|let no)\b/gi,
  /\b(is|was|were|are) (met|come upon|none of ours)\b/gi,
  /\bthe chosen\b/gi,
  /\b(for good|taken for|hangs in the air|leads past|keeps it from)\b/gi,
  /\b(what|that) (is|are) no (error|request|json|map|origin)\b/gi,
]

/** Openings that describe a value by a clause instead of a noun or verb. */
const REJECTED_OPENING =
  /(?:\/\*\*?|(?<!:)\/\/|\{\/\*)[\s*]+(?:What|Whether|Whoever|Whom|Those|The same|So (?:long|many|much|that))\b/g

describe('clean folders', () => {
  test('clean folders contain plain English only', () => {
    const files = [...CLEAN_FILES, ...CLEAN_FOLDERS.flatMap(textFiles)]
    expect(files.length).toBeGreaterThan(0)
    expect(files.flatMap((file) => rejectedIn(file).map((excerpt) => `${file}: ${excerpt}`))).toEqual([])
  })

  test('detects a rejected phrase across a line break', () => {
    expect(rejectedPhrases('// Read by\n// whoever asks.')).toEqual(['// Read by whoever asks.'])
    expect(rejectedPhrases('// What is read.')).toHaveLength(1)
    expect(rejectedPhrases('read()\n  // What is read.')).toHaveLength(1)
    expect(rejectedPhrases('// Reads\n// what is read.')).toEqual([])
    expect(rejectedPhrases('// Reads the file.')).toEqual([])
  })
})

function rejectedIn(file: string): string[] {
  return rejectedPhrases(readFileSync(file, 'utf8'))
}

function rejectedPhrases(source: string): string[] {
  const text = source.replace(/\n[ \t]*(?:\*(?!\/)|(?<=\/\/.*\n[ \t]*)\/\/)[ \t]*/g, ' ')
  return [...REJECTED_PHRASES, REJECTED_OPENING].flatMap((phrase) =>
    [...text.matchAll(phrase)].map(({ index }) => text.slice(Math.max(0, index - 30), index + 50).trim()),
  )
}

function textFiles(folder: string): string[] {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((name) => /\.(tsx?|m?js|css|md)$/.test(name) && !name.includes('node_modules'))
    .map((name) => join(folder, name))
    .filter((file) => file !== join('test', 'structure', 'language.test.ts'))
    .sort()
}

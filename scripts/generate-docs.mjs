// Writes the docs that are generated from tables in the source and from accepted benchmarks. With --check, fails if a file is stale.
import { readFileSync, writeFileSync } from 'node:fs'
import { commandLine } from './docs/command-line.mjs'
import { comparison } from './docs/comparison.mjs'
import { configuration } from './docs/configuration.mjs'
import { endpoints } from './docs/endpoints.mjs'
import { openapi } from './docs/openapi.mjs'
import { performance } from './docs/performance.mjs'
import { severity } from './docs/severity.mjs'
import { loadTables } from './docs/source.mjs'

const tables = await loadTables()
const accepted = JSON.parse(readFileSync('bench/accepted.json', 'utf8'))
const documents = {
  'docs/command-line.md': commandLine(tables),
  'docs/comparison.md': comparison(accepted),
  'docs/configuration.md': configuration(tables),
  'docs/endpoints.md': endpoints(tables),
  'docs/openapi.json': openapi(tables),
  'docs/performance.md': performance(accepted, readFileSync('scripts/docs/performance.template.md', 'utf8')),
  'docs/severity.md': severity(tables),
}
const isCheck = process.argv.includes('--check')
const staleFiles = []

for (const [file, text] of Object.entries(documents)) {
  if (readExisting(file) === text) continue
  if (isCheck) staleFiles.push(file)
  else writeFileSync(file, text)
}
if (staleFiles.length > 0) {
  console.error(`Stale docs: ${staleFiles.join(', ')}. Run npm run docs and commit the result.`)
  process.exit(1)
}

function readExisting(file) {
  try {
    return readFileSync(file, 'utf8')
  } catch {
    // The file does not exist yet.
    return null
  }
}

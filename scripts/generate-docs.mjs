// Writes the docs that follow from tables in the source; with --check, fails when one of them is stale.
import { readFileSync, writeFileSync } from 'node:fs'
import { environmentVariable, GROUPS, OPTION_NAMES, OPTIONS } from '../dist/config/options.js'

const documents = { 'docs/configuration.md': configuration() }
const check = process.argv.includes('--check')
const stale = []

for (const [file, text] of Object.entries(documents)) {
  if (current(file) === text) continue
  if (check) stale.push(file)
  else writeFileSync(file, text)
}
if (stale.length > 0) {
  console.error(`${stale.join(', ')} is stale: run  npm run docs  and commit the result`)
  process.exit(1)
}

function configuration() {
  const sections = Object.entries(GROUPS).map(([group, title]) => {
    const rows = OPTION_NAMES.filter((name) => OPTIONS[name].group === group).map(optionRow)
    return `## ${title}\n\n| option | value | default | environment | what it does |\n|---|---|---|---|---|\n${rows.join('\n')}\n`
  })
  return `# Configuration

<!-- Generated from src/config/options.ts by \`npm run docs\`. Do not edit. -->

Options are set by \`Tracker.configure({ … })\`, by \`Tracker.configure((config) => { … })\`, in \`faultboard.config.{ts,js,mjs}\`
for the command line, or by environment variables. Code wins over the environment, a flag of the command line over both.
A list is written with commas in the environment, a mapping as \`chat=low,email=high\`.

All problems are reported together in one \`ConfigurationError\`. The configuration is frozen once the tracker has started:
a change takes effect after a restart. Secrets are never shown on the settings page.

Options marked *planned* are accepted and checked today; the feature they govern comes with a later release.

${sections.join('\n')}`
}

function optionRow(name) {
  const { kind, text, secret, planned } = OPTIONS[name]
  const variable = environmentVariable(name)
  const notes = [secret && 'secret', planned && '*planned*'].filter(Boolean)
  const cells = [
    `\`${name}\``,
    kind.words,
    `\`${JSON.stringify(OPTIONS[name].default)}\``,
    variable ? `\`${variable}\`` : 'code only',
    `${text}${notes.length > 0 ? ` (${notes.join(', ')})` : ''}`,
  ]
  return `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`
}

function current(file) {
  try {
    return readFileSync(file, 'utf8')
  } catch {
    // Not written yet.
    return null
  }
}

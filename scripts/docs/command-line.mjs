import { tableRow } from './table-row.mjs'

/** Renders docs/command-line.md from the table of commands. */
export function commandLine({ commands, EXIT_CODES }) {
  const exceptions = commands.filter(({ withoutJson }) => withoutJson)
  return `# Command line

<!-- Generated from src/cli/commands by \`npm run docs\`. Do not edit. -->

\`\`\`sh
npx faultboard errors --unresolved --severity critical
npx faultboard help errors
\`\`\`

Commands read their configuration from \`faultboard.config.{ts,js,mjs}\` in the current folder and from environment variables
([configuration](configuration.md)). A flag overrides both. Options that your code passes to \`Tracker.configure\` are not visible to the
command line.

## Output

- **Streams.** Results are on standard output. Messages, warnings and progress are on standard error.
- **JSON.** With \`--json\`, the result is JSON. Commands that keep running print one line of JSON when they are ready. Failures are
  text on standard error. Commands without \`--json\`:
${exceptions.map(({ name, withoutJson }) => `  - \`${name}\`: ${withoutJson}`).join('\n')}
- **Colors.** Terminals show severities, statuses and results in color. \`NO_COLOR=1\` turns colors off, and \`FORCE_COLOR=1\` turns them
  on for a pipe. JSON has no colors.
- **Progress.** \`import\`, \`export\`, \`move\` and \`cleanup\` show progress in one line on a terminal. The line disappears at the end.
  It is not shown in a pipe, with \`--json\`, or by \`export -\`.
- **Untrusted text.** Control characters in recorded errors are printed as escaped text.

| exit code | meaning |
|---|---|
${Object.entries(EXIT_CODES)
  .map(([code, meaning]) => tableRow([code, meaning]))
  .join('\n')}

\`prove\` exits with 130 if it is stopped by Ctrl+C.

## Shell completion

Load the completion of commands, flags and their values when your shell starts, for example in \`.bashrc\`:

\`\`\`sh
source <(npx faultboard completion bash)
\`\`\`

For zsh, replace \`bash\` with \`zsh\`. For fish:

\`\`\`sh
npx faultboard completion fish | source
\`\`\`

The shell completes the command \`faultboard\`, which is in \`node_modules/.bin\` or installed globally.

## Commands

| command | purpose |
|---|---|
${commands.map(({ name, summary }) => tableRow([`[\`${name}\`](#${name.replaceAll(' ', '-')})`, summary])).join('\n')}

${commands.map(commandSection).join('\n')}`
}

function commandSection({ name, summary, text, examples = [], argument, flags }) {
  const rows = [
    ...(argument ? [tableRow([`\`${argument.name}\``, argument.text])] : []),
    ...Object.entries(flags).map(([flag, { value, text }]) =>
      tableRow([`\`--${flag}${value ? ` ${value}` : ''}\``, text]),
    ),
  ]
  const example = examples.length > 0 ? `\`\`\`sh\n${examples.join('\n')}\n\`\`\`\n\n` : ''
  const table = rows.length > 0 ? `\n| argument | description |\n|---|---|\n${rows.join('\n')}\n` : ''
  return `### ${name}\n\n${example}${summary}.${text ? ` ${text.replaceAll('\n', ' ')}` : ''}\n${table}`
}

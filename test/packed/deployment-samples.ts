import { readFileSync } from 'node:fs'

/** Returns the first code block of a section of docs/deployment.md. The introduction is the section `Deployment`. */
export function sample(section: string, language: string): string {
  const sections = readFileSync('docs/deployment.md', 'utf8').replace(/^# /, '').split(/^## /m)
  const text = sections.find((candidate) => candidate.startsWith(`${section}\n`)) ?? ''
  const code = new RegExp(`^\`\`\`${language}\n(.*?)^\`\`\``, 'ms').exec(text)?.[1]
  if (code === undefined) throw new Error(`docs/deployment.md has no ${language} in ${section}`)
  return code
}

const APP = `
  import express from 'express'
  import { Tracker } from 'faultboard'
  import { capture, dashboard } from 'faultboard/express'

  const app = express()
  app.use(dashboard())
  app.get('/healthz', (_, response) => response.send('ok'))
  app.get('/', () => {
    throw new Error('The first error')
  })
  app.use(capture())
  const server = app.listen(process.env.PORT ?? 3000)
`

/** Application of the recipes, with the shutdown of docs/deployment.md. */
export function deployedApp(): string {
  return APP + sample('Deployment', 'js')
}

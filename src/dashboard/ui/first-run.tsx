import type { Rendered, Visit } from '../define.js'
import { docsLink } from '../links/docs-link.js'
import { href, openErrorsLink } from '../links/href.js'
import { CodeBox } from './code-box.js'

/** Setup code per framework. */
const FRAMEWORKS: readonly (readonly [name: string, code: string])[] = [
  [
    'Express',
    `import { capture, dashboard } from 'faultboard/express'
app.use(dashboard())
app.use(capture()) // after your routes`,
  ],
  [
    'Fastify',
    `import { faultboard } from 'faultboard/fastify'
app.register(faultboard)`,
  ],
  [
    'Koa',
    `import { faultboard } from 'faultboard/koa'
app.use(faultboard()) // before your middleware`,
  ],
  [
    'Hono',
    `import { faultboard } from 'faultboard/hono'
app.use(faultboard()) // before your routes`,
  ],
  [
    'NestJS',
    `import { faultboard } from 'faultboard/nest'
const app = faultboard(await NestFactory.create(AppModule))`,
  ],
  [
    'Next.js',
    `// instrumentation.js, next to register()
export { onRequestError } from 'faultboard/next'`,
  ],
  [
    'Without a framework',
    `import { Tracker } from 'faultboard'
Tracker.report(new Error('The first error'))`,
  ],
]

/**
 * Empty state before the first error. Must be part of a live list. The waiting line becomes a link when the error
 * arrives.
 */
export function FirstRun({ visit }: { visit: Visit }): Rendered {
  const selected = visit.applications.find(({ id }) => id === visit.application_id)
  return (
    <section class="first-run card">
      <h2>
        <span class="while-waiting">No errors yet</span>
        <span class="after-arrival">First error recorded</span>
      </h2>
      <p class="while-waiting">
        Throw an error in any route of {selected ? <strong>{selected.name}</strong> : 'your application'}, and it
        appears here.
      </p>
      <p class="after-arrival">Open it to see its stack trace, variables and request.</p>
      <fieldset class="frameworks">
        <legend class="hidden">Framework</legend>
        {FRAMEWORKS.map(([name, code], i) => (
          <>
            <input class="hidden" type="radio" name="framework" id={`framework-${i}`} checked={i === 0} />
            <label for={`framework-${i}`}>{name}</label>
            <div class="framework-code">
              <CodeBox id={`code-${i}`} label="Copy code">
                {code}
              </CodeBox>
            </div>
          </>
        ))}
      </fieldset>
      <p class="waiting">
        <span class="waiting-dot" aria-hidden="true" />
        <span class="while-waiting">Waiting for the first error</span>
        <a data-arrivals href={openErrorsLink(visit)} hidden>
          <span data-arrivals-text />
          {' – Show'}
        </a>
      </p>
      <p class="muted">
        See also <a href={docsLink('frameworks')}>other frameworks</a> and{' '}
        <a href={docsLink('subscribers')}>loggers and queues</a>. If an error does not appear, check{' '}
        <a href={href(visit, '/health')}>Health</a>.
      </p>
    </section>
  )
}

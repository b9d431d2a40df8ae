import type { Rendered, Visit } from '../../define.js'
import { href } from '../../links/href.js'
import { CopyButton } from '../../ui/copy.js'

const CAPTURE_CODE = `import { capture, dashboard } from 'faultboard/express'
app.use(dashboard())
app.use(capture()) // after your routes`

const LOG_ERROR_CODE = "await Tracker.Commands.LogError.call({ exception: error, user_id: 'u-1' })"

/** Empty state of the overview with the code that captures the first error. */
export function FirstSteps({ visit }: { visit: Visit }): Rendered {
  const selected = visit.applications.find(({ id }) => id === visit.application_id)
  return (
    <section class="first-steps">
      <h2>No errors yet</h2>
      <p>
        This page will show new, regressed and high-impact errors of{' '}
        {(selected?.name ?? visit.application_name) || 'your application'}.
      </p>
      <h3>Capture errors from your routes</h3>
      <pre tabindex={0} id="capture-lines">
        <code>{CAPTURE_CODE}</code>
      </pre>
      <CopyButton from="capture-lines" label="Copy code" />
      <h3>Or send one manually</h3>
      <pre tabindex={0} id="log-line">
        <code>{LOG_ERROR_CODE}</code>
      </pre>
      <CopyButton from="log-line" label="Copy code" />
      <p class="muted">
        For Fastify, Koa, Hono, NestJS, Next.js, Nitro, plain Node.js, loggers and queues, see{' '}
        <code>docs/frameworks.md</code> and <code>docs/subscribers.md</code> in the package. Threw an error but do not
        see it? Check <a href={href(visit, '/health')}>Health</a> for dropped errors.
      </p>
    </section>
  )
}

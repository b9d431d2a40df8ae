import type { Settings } from '../../src/options.js'
import type { Host } from './host.js'
import { PAGES } from './routes.js'

/** Markup that an attacker may send in any text field of an error. */
export const HOSTILE_MARKUP = `"'><script>document.title='owned'</script><img src=x onerror=document.title='owned'>\u2028</title></pre></textarea>{{7*7}}`

/** Enables every optional page and the system health of an error. */
export const ALL_PAGES_ON: Settings = {
  ...Object.fromEntries(PAGES.flatMap(({ needs = [] }) => [needs].flat()).map((name) => [name, true])),
  enable_system_health: true,
}

/** Records the text in every field of an error, its comments and its context. */
export async function logHostileErrors(host: Host, text = HOSTILE_MARKUP): Promise<void> {
  const { Commands } = host.tracker
  host.tracker.addBreadcrumb({ category: text, message: text, metadata: { [text]: text } })
  host.tracker.drop(text)
  for (const name of [text, `${text} again`]) {
    const logged = await Commands.LogError.call({
      exception: Object.assign(new Error(text, { cause: Object.assign(new Error(text), { name }) }), {
        name,
        code: text,
      }),
      backtrace: [`at ${text} (/srv/${text}.js:1:1)`, `at ${text} (/srv/node_modules/${text}/x.js:1:1)`],
      platform: text,
      app_version: text,
      git_sha: text,
      user_id: text,
      request_url: `https://x.example/${text}`,
      request_params: { [text]: text, __proto__: { [text]: text } },
      ip_address: text,
      user_agent: text,
      context: { [text]: [text] },
      tags: { [text]: text },
      source: text,
      request: { method: text, route: text, headers: { [text]: text }, content_type: text },
    })
    const error_id = logged?.id ?? 0
    await Commands.AddComment.call({ error_id, author_name: text.slice(0, 255), body: text })
    await Commands.AssignError.call({ error_id, assigned_to: text.slice(0, 255), actor: text.slice(0, 255) })
    await Commands.SnoozeError.call({ error_id, hours: 1, reason: text })
    await Commands.MuteError.call({ error_id, reason: text, muted_by: text.slice(0, 255) })
  }
  await Commands.ResolveError.call({
    error_id: 1,
    resolved_by: text.slice(0, 255),
    resolution_comment: text,
    resolution_reference: 'javascript:alert(1)',
  })
  await host.post('/saved_views', { name: text.slice(0, 100), query: `search=${encodeURIComponent(text)}` })
  await host.post('/errors/diagnostic_dumps', { note: text })
}

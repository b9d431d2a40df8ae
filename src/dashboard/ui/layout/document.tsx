import type { Banner } from '../../../context.js'
import { raw } from '../../../html/jsx-runtime.js'
import { assetPath } from '../../assets.js'
import type { Destination, Rendered, Visit } from '../../define.js'
import { href, openErrorsLink } from '../../links/href.js'
import { DisabledPage } from './disabled-page.js'
import { findPosition, isEnabled } from './navigation.js'
import { Palette } from './palette.js'
import { Rail, TopBar } from './rail.js'
import { SectionTabs } from './section-tabs.js'
import { Shortcuts } from './shortcuts.js'

/** Page in the shared layout. */
export function pageDocument(
  title: string,
  content: Rendered,
  visit: Visit,
  applicationName: string = selectedApplication(visit),
  noticeAction?: Rendered,
): Rendered {
  return (
    <Document title={`${title} · ${applicationName}`} visit={visit}>
      <a class="skip" href="#content">
        Skip to content
      </a>
      <div class={visit.rail_folded ? 'frame folded' : 'frame'}>
        <TopBar visit={visit} />
        <Rail visit={visit} />
        <main id="content" tabindex={-1}>
          {visit.banner && <BannerLine {...visit.banner} />}
          {visit.notice && (
            <div class="notice" role="status">
              <p>{visit.notice}</p>
              {noticeAction}
            </div>
          )}
          <SectionTabs visit={visit} />
          {content}
        </main>
      </div>
      <Shortcuts visit={visit} />
      <Palette visit={visit} />
      <div id="announcer" class="hidden" aria-live="polite" />
    </Document>
  )
}

function BannerLine({ text, links, dismiss_url }: Banner): Rendered {
  return (
    <aside class="banner" aria-label="Hints">
      <div class="banner-links scroll-row">
        <span>{text}</span>
        {links.map(({ label, url }) => (
          <a href={url}>{label}</a>
        ))}
      </div>
      <a class="muted banner-close" href={dismiss_url} aria-label="Dismiss" title="Dismiss">
        ×
      </a>
    </aside>
  )
}

/** Placeholder that page text cannot contain, because text is escaped. */
const CONTENT_SLOT = '<!--content-->'

/** Parts of `pageDocument` before and after the content. */
export async function pageLayout(title: string, visit: Visit): Promise<{ head: string; tail: string }> {
  const [head = '', tail = ''] = String(await pageDocument(title, raw(CONTENT_SLOT), visit)).split(CONTENT_SLOT)
  return { head, tail }
}

/** Name of the selected application. */
function selectedApplication({ applications, application_id, application_name }: Visit): string {
  if (application_id !== null) return applications.find(({ id }) => id === application_id)?.name ?? 'Faultboard'
  if (applications.length > 1) return 'All applications'
  return applications[0]?.name ?? (application_name || 'Faultboard')
}

const ERROR_TITLES: Record<number, string> = {
  401: 'Sign in',
  403: 'Forbidden',
  404: 'Not found',
  413: 'Request too large',
  422: 'Invalid request',
  429: 'Too many requests',
  503: 'Database unavailable',
}

/** Error page, without navigation before sign-in. */
export function errorDocument(status: number, message: string, visit: Visit): Rendered {
  const title = errorTitle(status)
  const content = <ErrorContent status={status} message={message} visit={visit} />
  if (visit.user) return disabledDocument(status, visit) ?? pageDocument(title, content, { ...visit, notice: null })
  return (
    <Document title={`${title} · Faultboard`} visit={visit} omitsAssets>
      <main>{content}</main>
    </Document>
  )
}

/** Preview of a page whose options are off. */
function disabledDocument(status: number, visit: Visit): Rendered {
  const { destination } = findPosition(visit) ?? {}
  if (status !== 404 || !destination?.preview || isEnabled(destination, visit.switches)) return null
  const { label, preview } = destination
  const content = <DisabledPage destination={destination} preview={preview} visit={visit} />
  return pageDocument(label, content, { ...visit, notice: null })
}

function errorTitle(status: number): string {
  return ERROR_TITLES[status] ?? 'Something went wrong'
}

/** Content of an error page. */
export function ErrorContent({ status, message, visit }: { status: number; message: string; visit: Visit }): Rendered {
  return (
    <section class="wrong">
      <h1>{errorTitle(status)}</h1>
      <p class="sentence">{message}</p>
      {visit.user ? (
        <NextSteps status={status} visit={visit} />
      ) : (
        // Uses a fixed target, because the requested path must not be echoed before sign-in.
        status === 401 && (
          <p>
            <a href={`${visit.base}/overview`}>Try again</a>
            {visit.sign_in_links.map(({ label, url }) => (
              <>
                {' · '}
                <a href={url}>{label}</a>
              </>
            ))}
          </p>
        )
      )}
    </section>
  )
}

/** Links for leaving an error page. */
function NextSteps({ status, visit }: { status: number; visit: Visit }): Rendered {
  const error_id = /^\/errors\/(\d+)\/./.exec(visit.path)?.[1]
  const section = parentSection(status, visit)
  return (
    <p class="page-tools">
      {section && (
        <a class="button primary" href={href(visit, section.path, section.query)}>
          {`Back to ${section.label}`}
        </a>
      )}
      {error_id && (
        <a class="button primary" href={href(visit, `/errors/${error_id}`)}>
          Back to this error
        </a>
      )}
      {status === 503 && (
        <a class="button primary" href={href(visit, '/health')}>
          View health
        </a>
      )}
      <a class="button" href={openErrorsLink(visit)}>
        Back to errors
      </a>
    </p>
  )
}

/** Section of the requested page, unless the section is unavailable too. */
function parentSection(status: number, visit: Visit): Destination | undefined {
  const { path, switches } = visit
  const section = findPosition(visit)?.destination
  if (!section || section.path === '/errors' || (status !== 422 && section.path === path)) return undefined
  return isEnabled(section, switches) ? section : undefined
}

function Document({
  title,
  visit,
  omitsAssets,
  children,
}: {
  title: string
  visit: Visit
  omitsAssets?: boolean
  children?: Rendered
}): Rendered {
  return (
    <>
      {raw('<!doctype html>')}
      <html lang="en" data-theme={visit.theme === 'auto' ? undefined : visit.theme}>
        <head>
          <meta charset="utf-8" />
          <meta name="viewport" content="width=device-width, initial-scale=1" />
          <meta name="color-scheme" content={visit.theme === 'auto' ? 'light dark' : visit.theme} />
          <meta name="robots" content="noindex" />
          <link rel="icon" href={ICON} />
          <title>{title}</title>
          {/* Omits assets before sign-in, because assets require the sign-in too. */}
          {!omitsAssets && (
            <link rel="preload" href={`${visit.base}/assets/inter.woff2`} as="font" type="font/woff2" crossorigin="" />
          )}
          {!omitsAssets && <link rel="stylesheet" href={`${visit.base}${assetPath('dashboard.css')}`} />}
          {!omitsAssets && <script src={`${visit.base}${assetPath('dashboard.js')}`} defer />}
        </head>
        <body data-base={omitsAssets ? undefined : visit.base}>{children}</body>
      </html>
    </>
  )
}

const ICON = `data:image/svg+xml,${encodeURIComponent(
  '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 20 20"><rect width="20" height="20" rx="5" fill="#b4233c"/><path d="M4 11.5h3l2-6 3 9 2-6 .8 3H16" fill="none" stroke="#fff" stroke-width="1.6" stroke-linejoin="round" stroke-linecap="round"/></svg>',
)}`

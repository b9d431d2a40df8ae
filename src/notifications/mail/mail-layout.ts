import type { Severity } from '../../model/severity/severity.js'
import { Html, html } from './html-template.js'

/**
 * Mail clients may ignore style sheets. Each element has inline light colors, and classes override them in dark mode.
 */
const PALETTE = {
  page: ['background', '#f3f5f7', '#0d0f12'],
  card: ['background', '#ffffff', '#191c21'],
  sunken: ['background', '#f6f7f9', '#121418'],
  line: ['border-color', '#e0e4e9', '#2c3139'],
  text: ['color', '#181c22', '#e6e8ec'],
  muted: ['color', '#57606c', '#9aa3af'],
  link: ['color', '#1d5bb8', '#82b1ff'],
  button: ['background', '#1d5bb8', '#82b1ff'],
  label: ['color', '#ffffff', '#0d1420'],
  worse: ['color', '#a3122b', '#ff9ca9'],
  better: ['color', '#1c6839', '#86d8a2'],
  critical: ['color', '#a3122b', '#ff9ca9'],
  high: ['color', '#94480a', '#ffb777'],
  medium: ['color', '#6a5500', '#e6cd68'],
  low: ['color', '#3b5873', '#a6c2dc'],
  'critical-tint': ['background', '#fdeaec', '#3a191f'],
  'high-tint': ['background', '#fdf1e4', '#35240f'],
  'medium-tint': ['background', '#faf5da', '#2e2810'],
  'low-tint': ['background', '#eaf1f7', '#1b2935'],
} as const

export type ColorName = keyof typeof PALETTE

const SANS_FONT = "system-ui,-apple-system,'Segoe UI',Roboto,Helvetica,Arial,sans-serif"
export const MONO_FONT = "ui-monospace,SFMono-Regular,Menlo,Consolas,'Liberation Mono',monospace"

/** Class and style attributes of an element. */
export function styles(colors: readonly ColorName[], style = ''): Html {
  const lightStyles = colors.map((name) => `${PALETTE[name][0]}:${PALETTE[name][1]}`)
  return html`class="${colors.map((name) => `fb-${name}`).join(' ')}" style="${[...lightStyles, style].filter(Boolean).join(';')}"`
}

export const MAX_SUBJECT_LENGTH = 200

export interface MailLayout {
  subject: string
  /** Preview text that mail clients show next to the subject. */
  preview: string
  source: string
  body: Html
  footer: Html
}

export function renderMailLayout({ subject, preview, source, body, footer }: MailLayout): string {
  return html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="supported-color-schemes" content="light dark">
<title>${subject}</title>
<style>${new Html(STYLE_SHEET)}</style>
</head>
<body ${styles(['page', 'text'], `margin:0;padding:0;font-family:${SANS_FONT};font-size:15px;line-height:22px`)}>
<div style="display:none;max-height:0;overflow:hidden">${preview}</div>
<table role="presentation" width="100%" cellpadding="0" cellspacing="0" border="0" ${styles(['page'])}>
<tr><td align="center" class="fb-around" style="padding:24px 12px">
<table role="presentation" width="100%" cellpadding="0" cellspacing="0" border="0" style="max-width:600px">
<tr><td ${styles(['muted'], 'padding:0 4px 12px;font-size:13px;line-height:18px;overflow-wrap:anywhere')}><strong ${styles(['text'])}>Faultboard</strong> &nbsp;·&nbsp; ${source}</td></tr>
<tr><td ${styles(['card', 'line'], 'border-width:1px;border-style:solid;border-radius:8px')}>
<table role="presentation" width="100%" cellpadding="0" cellspacing="0" border="0"><tr><td class="fb-inside" style="padding:24px">
${body}
</td></tr></table>
</td></tr>
<tr><td ${styles(['muted'], 'padding:16px 4px 0;font-size:12px;line-height:18px;overflow-wrap:anywhere')}>${footer}</td></tr>
</table>
</td></tr>
</table>
</body>
</html>
`.text
}

export function severityBadge(severity: Severity): Html {
  const style =
    'display:inline-block;padding:2px 9px;border-radius:10px;font-size:12px;line-height:18px;font-weight:600'
  return html`<span ${styles([severity, `${severity}-tint`], style)}>${severity}</span>`
}

/** Renders nothing if there is no URL. */
export function buttonLink(url: string | null, label: string): Html {
  if (url === null) return html``
  const cell = 'border-radius:6px'
  const style =
    'display:inline-block;padding:10px 18px;font-size:14px;line-height:20px;font-weight:600;text-decoration:none'
  return html`<table role="presentation" cellpadding="0" cellspacing="0" border="0" style="margin-top:24px"><tr><td ${styles(['button'], cell)}><a href="${url}" ${styles(['label'], style)}>${label}</a></td></tr></table>`
}

/** Renders a link, or plain text if there is no URL. */
export function textLink(url: string | null, label: string, style = ''): Html {
  return url === null
    ? html`<span ${styles(['text'], style)}>${label}</span>`
    : html`<a href="${url}" ${styles(['link'], `text-decoration:none;${style}`)}>${label}</a>`
}

export function recipientsNote(source: string): string {
  return `You receive this email because you are listed in notification_email_recipients of ${source}.`
}

const darkRules = Object.entries(PALETTE).map(
  ([name, [property, , color]]) => `.fb-${name}{${property}:${color}!important}`,
)

const STYLE_SHEET = `:root{color-scheme:light dark;supported-color-schemes:light dark}
@media (max-width:480px){.fb-inside{padding:16px!important}.fb-around{padding:12px 8px!important}}
@media (prefers-color-scheme:dark){${darkRules.join('')}}`

/** Content of an email, without its envelope. */
export interface Mail {
  subject: string
  text: string
  html: string
}

import type { Links } from '../content/dashboard-links.js'
import { formatQuantity } from '../content/format-text.js'
import type { DigestNotice } from '../content/notice.js'
import { oneLine } from '../content/safe-text.js'
import {
  type DigestContent,
  digestContent,
  type FigureContent,
  type RowContent,
  type SectionContent,
} from './digest-content.js'
import { type Html, html } from './html-template.js'
import {
  buttonLink,
  MAX_SUBJECT_LENGTH,
  type Mail,
  MONO_FONT,
  recipientsNote,
  renderMailLayout,
  severityBadge,
  styles,
  textLink,
} from './mail-layout.js'

/** Renders the daily or weekly digest. */
export function digestMail(notice: DigestNotice, links: Links, time_zone: string): Mail {
  const content = digestContent(notice, links, time_zone)
  const { title, source, summary } = content
  const subject = oneLine(`[${source}] ${title}: ${summary}`, MAX_SUBJECT_LENGTH)
  const footer = `${recipientsNote(source)} Set digest_frequency to never to stop these emails.`
  return {
    subject,
    text: `${[...textLines(content), '', '-- ', footer].join('\n')}\n`,
    html: renderMailLayout({ subject, preview: summary, source, body: mailBody(content), footer: html`${footer}` }),
  }
}

function textLines({ title, source, period, figures, emptyText, sections, url }: DigestContent): string[] {
  return [
    ...[`${title} for ${source}`, period, ''],
    ...figures.map(({ label, count, change }) => `${`${label}:`.padEnd(13)}${count} (${change})`),
    ...(emptyText === null ? [] : ['', emptyText]),
    ...sections.flatMap(({ heading, rows, more }) => [
      ...['', heading, ...rows.flatMap(rowLines)],
      ...(more > 0 ? [`- and ${formatQuantity(more, 'other')}`] : []),
    ]),
    ...(url === null ? [] : ['', url]),
  ]
}

function rowLines({ type, message, severity, count, application, url }: RowContent): string[] {
  const line = `- ${count} × ${type}: ${message} (${[severity, application].filter(Boolean).join(', ')})`
  return url === null ? [line] : [line, `  ${url}`]
}

function mailBody({ title, period, figures, emptyText, sections, url }: DigestContent): Html {
  return html`<h1 ${styles(['text'], 'margin:0;font-size:20px;line-height:27px')}>${title}</h1>
<p ${styles(['muted'], 'margin:2px 0 20px;font-size:13px;line-height:19px')}>${period}</p>
<table role="presentation" width="100%" cellpadding="0" cellspacing="0" border="0">
<tr>${figures.slice(0, 2).map(figureCell)}</tr>
<tr>${figures.slice(2).map(figureCell)}</tr>
</table>
${emptyText === null ? null : html`<p ${styles(['text'], 'margin:20px 0 0')}>${emptyText}</p>`}
${sections.map(sectionTable)}
${buttonLink(url, 'Open dashboard')}`
}

function figureCell({ label, count, change, tone }: FigureContent): Html {
  return html`<td width="50%" valign="top" style="padding:0 12px 14px 0">
<div ${styles(['muted'], 'font-size:12px;line-height:17px')}>${label}</div>
<div ${styles(['text'], 'font-size:24px;line-height:31px;font-weight:600')}>${count}</div>
<div ${styles([tone], 'font-size:12px;line-height:17px')}>${change}</div>
</td>`
}

function sectionTable({ heading, rows, more }: SectionContent): Html {
  return html`<h2 ${styles(['text'], 'margin:20px 0 8px;font-size:15px;line-height:22px')}>${heading}</h2>
<table role="presentation" width="100%" cellpadding="0" cellspacing="0" border="0">${rows.map(errorRow)}
</table>${more > 0 ? html`<p ${styles(['muted'], 'margin:8px 0 0;font-size:13px')}>and ${formatQuantity(more, 'other')}</p>` : null}`
}

function errorRow({ type, message, severity, count, application, url }: RowContent): Html {
  const cellStyle = 'padding:10px 0;border-width:1px 0 0;border-style:solid'
  const codeStyle = `font-family:${MONO_FONT};font-size:13px;line-height:19px;overflow-wrap:anywhere`
  return html`
<tr><td valign="top" ${styles(['line'], `${cellStyle};overflow-wrap:anywhere`)}>
<div>${textLink(url, type, 'font-weight:600')} &nbsp;${severityBadge(severity)}</div>
<div ${styles(['muted'], codeStyle)}>${message}</div>
${application === null ? null : html`<div ${styles(['muted'], 'font-size:12px;line-height:18px')}>${application}</div>`}
</td><td valign="top" align="right" width="64" ${styles(['line', 'text'], `${cellStyle};font-size:14px;font-weight:600;white-space:nowrap`)}>${count}<span ${styles(['muted'], 'font-weight:400')}> ×</span></td></tr>`
}

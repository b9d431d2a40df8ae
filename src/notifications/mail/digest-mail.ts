import { counted } from '../content/formats.js'
import { oneLine } from '../content/legible.js'
import type { Links } from '../content/links.js'
import type { DigestNotice } from '../content/notice.js'
import { type DigestWords, digestWords, type FigureWords, type RowWords, type SectionWords } from './digest-words.js'
import { button, frame, linked, look, MONO, pill, sentTo } from './frame.js'
import { type Html, html } from './html.js'
import type { Mail } from './mail.js'

const MAX_SUBJECT = 200

/** The daily or weekly mail. */
export function digestMail(notice: DigestNotice, links: Links, time_zone: string): Mail {
  const words = digestWords(notice, links, time_zone)
  const { title, where, summary } = words
  const subject = oneLine(`[${where}] ${title}: ${summary}`, MAX_SUBJECT)
  const footer = `${sentTo(where)} With digest_frequency: never it is not sent any more.`
  return {
    subject,
    text: `${[...textLines(words), '', '-- ', footer].join('\n')}\n`,
    html: frame({ subject, preview: summary, where, body: bodyOf(words), footer: html`${footer}` }),
  }
}

function textLines({ title, where, period, figures, quiet, sections, url }: DigestWords): string[] {
  return [
    ...[`${title} for ${where}`, period, ''],
    ...figures.map(({ label, count, change }) => `${`${label}:`.padEnd(13)}${count} (${change})`),
    ...(quiet === null ? [] : ['', quiet]),
    ...sections.flatMap(({ heading, rows, more }) => [
      ...['', heading, ...rows.flatMap(rowLines)],
      ...(more > 0 ? [`- and ${counted(more, 'other')}`] : []),
    ]),
    ...(url === null ? [] : ['', url]),
  ]
}

function rowLines({ type, message, severity, count, application, url }: RowWords): string[] {
  const line = `- ${count} × ${type}: ${message} (${[severity, application].filter(Boolean).join(', ')})`
  return url === null ? [line] : [line, `  ${url}`]
}

function bodyOf({ title, period, figures, quiet, sections, url }: DigestWords): Html {
  return html`<h1 ${look(['text'], 'margin:0;font-size:20px;line-height:27px')}>${title}</h1>
<p ${look(['muted'], 'margin:2px 0 20px;font-size:13px;line-height:19px')}>${period}</p>
<table role="presentation" width="100%" cellpadding="0" cellspacing="0" border="0">
<tr>${figures.slice(0, 2).map(figureCell)}</tr>
<tr>${figures.slice(2).map(figureCell)}</tr>
</table>
${quiet === null ? null : html`<p ${look(['text'], 'margin:20px 0 0')}>${quiet}</p>`}
${sections.map(section)}
${button(url, 'Open the dashboard')}`
}

function figureCell({ label, count, change, tone }: FigureWords): Html {
  return html`<td width="50%" valign="top" style="padding:0 12px 14px 0">
<div ${look(['muted'], 'font-size:12px;line-height:17px')}>${label}</div>
<div ${look(['text'], 'font-size:24px;line-height:31px;font-weight:600')}>${count}</div>
<div ${look([tone], 'font-size:12px;line-height:17px')}>${change}</div>
</td>`
}

function section({ heading, rows, more }: SectionWords): Html {
  return html`<h2 ${look(['text'], 'margin:20px 0 8px;font-size:15px;line-height:22px')}>${heading}</h2>
<table role="presentation" width="100%" cellpadding="0" cellspacing="0" border="0">${rows.map(row)}
</table>${more > 0 ? html`<p ${look(['muted'], 'margin:8px 0 0;font-size:13px')}>and ${counted(more, 'other')}</p>` : null}`
}

function row({ type, message, severity, count, application, url }: RowWords): Html {
  const cell = 'padding:10px 0;border-width:1px 0 0;border-style:solid'
  const code = `font-family:${MONO};font-size:13px;line-height:19px;overflow-wrap:anywhere`
  return html`
<tr><td valign="top" ${look(['line'], `${cell};overflow-wrap:anywhere`)}>
<div>${linked(url, type, 'font-weight:600')} &nbsp;${pill(severity)}</div>
<div ${look(['muted'], code)}>${message}</div>
${application === null ? null : html`<div ${look(['muted'], 'font-size:12px;line-height:18px')}>${application}</div>`}
</td><td valign="top" align="right" width="64" ${look(['line', 'text'], `${cell};font-size:14px;font-weight:600;white-space:nowrap`)}>${count}<span ${look(['muted'], 'font-weight:400')}> ×</span></td></tr>`
}

import { type Card, type CardNotice, cardOf, type Item, sentenceOf } from '../content/card.js'
import { counted } from '../content/formats.js'
import { oneLine } from '../content/legible.js'
import type { Links } from '../content/links.js'
import { button, frame, linked, look, MONO, pill, sentTo } from './frame.js'
import { type Html, html } from './html.js'
import type { Mail } from './mail.js'

const MAX_SUBJECT = 200

/** A mail about an error, about several, or to see whether mails arrive. */
export function noticeMail(notice: CardNotice, links: Links, time_zone: string): Mail {
  const card = cardOf(notice, links, time_zone)
  const subject = subjectOf(card)
  return {
    subject,
    text: `${textLines(card, links).join('\n')}\n`,
    html: frame({
      subject,
      preview: sentenceOf(card, MAX_SUBJECT),
      where: card.where,
      body: bodyOf(card),
      footer: footerOf(card, links),
    }),
  }
}

/** `[shop (production)] New error: TypeError: x is not a function` */
function subjectOf({ where, title, type, message }: Card): string {
  return oneLine(`[${where}] ${[title, type, type === null ? null : message].filter(Boolean).join(': ')}`, MAX_SUBJECT)
}

function textLines(card: Card, links: Links): string[] {
  const { title, where, type, message, facts, items, more, url } = card
  return [
    `${title} in ${where}`,
    '',
    ...(type === null ? [] : [type]),
    ...(message === null ? [] : [message, '']),
    ...items.flatMap((item) => [
      `- ${item.severity}: ${item.title}: ${item.type}: ${item.message}`,
      ...(item.url === null ? [] : [`  ${item.url}`]),
    ]),
    ...(more > 0 ? [`- and ${counted(more, 'other')}`, ''] : []),
    ...facts.map(({ label, value }) => `${`${label}:`.padEnd(13)}${value}`),
    ...(url === null ? [] : ['', url]),
    '',
    '-- ',
    ...footerLines(card, links),
  ]
}

function bodyOf(card: Card): Html {
  const isAboutOne = card.type !== null
  return html`<p style="margin:0 0 14px">${isAboutOne ? pill(card.severity) : null} <strong ${look(['text'], 'font-size:15px')}>${card.title}</strong></p>
${isAboutOne ? html`<h1 ${look(['text'], 'margin:0 0 12px;font-size:20px;line-height:27px;overflow-wrap:anywhere')}>${card.type}</h1>` : null}
${card.message === null ? null : isAboutOne ? code(card.message) : html`<p ${look(['text'], 'margin:0;overflow-wrap:anywhere')}>${card.message}</p>`}
${card.items.map(itemRow)}
${card.more > 0 ? html`<p ${look(['muted'], 'margin:16px 0 0')}>and ${counted(card.more, 'other')}</p>` : null}
${card.facts.length > 0 ? factTable(card) : null}
${button(card.url, 'Open in Faultboard')}`
}

function code(text: string): Html {
  const style = `margin:0;padding:12px 14px;border-radius:6px;font-family:${MONO};font-size:13px;line-height:19px`
  return html`<div ${look(['sunken', 'text'], `${style};white-space:pre-wrap;overflow-wrap:anywhere`)}>${text}</div>`
}

/** What the pill says is not said again. */
function factTable({ facts }: Card): Html {
  const rows = facts.filter(({ label }) => label !== 'Severity')
  return html`<table role="presentation" width="100%" cellpadding="0" cellspacing="0" border="0" style="margin-top:16px;font-size:14px;line-height:20px">${rows.map(
    ({ label, value, code }) => html`
<tr><td valign="top" width="104" ${look(['muted'], 'padding:4px 12px 4px 0')}>${label}</td><td valign="top" ${look(['text'], `padding:4px 0;overflow-wrap:anywhere${code ? `;font-family:${MONO};font-size:13px` : ''}`)}>${value}</td></tr>`,
  )}
</table>`
}

function itemRow({ title, severity, type, message, url }: Item): Html {
  return html`<div ${look(['line'], 'padding:14px 0;border-width:1px 0 0;border-style:solid')}>
<div style="margin-bottom:6px">${pill(severity)} <span ${look(['muted'], 'font-size:13px')}>${title}</span></div>
<div style="overflow-wrap:anywhere">${linked(url, type, 'font-weight:600')}</div>
<div ${look(['muted'], `font-family:${MONO};font-size:13px;line-height:19px;overflow-wrap:anywhere`)}>${message}</div>
</div>`
}

function footerOf(card: Card, links: Links): Html {
  return html`${footerLines(card, links).join(' ')}`
}

function footerLines({ where, type }: Card, links: Links): string[] {
  const can_silence = type !== null && links.page('') !== null
  return [sentTo(where), ...(can_silence ? ['Snooze or mute the error on its page to hear no more of it.'] : [])]
}

const longest = 2500
/** How sections of logs begin and end. */
const start = String.raw`section_start:\d+:`
const end = String.raw`section_end:\d+:`
/** What terminals take for colours and the like. */
// eslint-disable-next-line no-control-regex
const escapes = /\u001b\[[0-9;?]*[A-Za-z]/g

/** What of the log of a job is for the chat: its section `chat_reply`, or else that of its script; or else all. */
export function outputOf(log: string): string {
  const lines = sectionOf(log, 'chat_reply') ?? sectionOf(log, '(?:build|step)_script') ?? log
  const text = lines
    .replace(new RegExp(String.raw`(?:${start}|${end})\w+(?:\[[^\]]*\])?\r?`, 'g'), '')
    .replaceAll(escapes, '')
    .split('\n')
    .map((line) => line.slice(line.lastIndexOf('\r', line.length - 2) + 1).trimEnd())
    .join('\n')
    .trim()
  const whole = Array.from(text)
  return whole.length <= longest ? text : `…${whole.slice(-longest).join('')}`
}

function sectionOf(log: string, name: string): string | undefined {
  return new RegExp(String.raw`${start}${name}(?:\[[^\]]*\])?\r?([^]*?)${end}${name}\b`).exec(log)?.[1]
}

import type { MarkdownIt } from 'markdown-it'

const block = /^\{((?:\s*(?:width|height)=(?:\d{1,4}(?:px|%)?|"\d{1,4}(?:px|%)?")){1,2})\s*\}/
const size = /(width|height)="?(\d+)(%?)/g

/** `![plan](plan.png){width=50%}`: how large an image is shown, in pixels or in parts of what is there. */
export function imageSizes(parser: MarkdownIt): void {
  parser.core.ruler.after('inline', 'image-sizes', ({ tokens }) => {
    for (const { children } of tokens) {
      for (const [index, image] of (children ?? []).entries()) {
        const next = children![index + 1]
        if (image.type !== 'image' || next?.type !== 'text') continue
        const found = block.exec(next.content)
        if (found === null) continue
        next.content = next.content.slice(found[0].length)
        for (const [, name, number, unit] of found[1]!.matchAll(size))
          image.attrSet(name!, `${number}${unit}`)
      }
    }
    return false
  })
}

import type { Rule } from 'eslint'

export declare const layering: Rule.RuleModule

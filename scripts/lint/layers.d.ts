export declare const layers: Readonly<Record<string, readonly string[]>>

"""Script for a browser: the texts of a page that are hard to read."""

from __future__ import annotations

CONTRAST = """() => {
    const parse = (text) => (text.match(/[\\d.]+/g) || []).map(Number);
    const light = (rgb) => {
        const [r, g, b] = rgb.slice(0, 3).map((v) => (v /= 255) <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4);
        return 0.2126 * r + 0.7152 * g + 0.0722 * b;
    };
    const ground = (e) => {
        for (; e; e = e.parentElement) {
            const rgb = parse(getComputedStyle(e).backgroundColor);
            if (rgb.length === 3 || rgb[3] > 0) return rgb;
        }
        return [255, 255, 255];
    };
    const poor = [];
    for (const e of document.querySelectorAll('body *:not(svg, svg *, script, style, option)')) {
        const own = [...e.childNodes].some((n) => n.nodeType === 3 && n.data.trim());
        if (!own || !e.getClientRects().length || e.closest('.hidden, .skip')) continue;
        const [a, b] = [light(parse(getComputedStyle(e).color)), light(ground(e))];
        const ratio = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
        if (ratio < 4.5) poor.push([ratio, e.outerHTML.slice(0, 120)]);
    }
    for (const e of document.querySelectorAll('.board text')) {
        const shape = e.previousElementSibling;
        if (!shape || !shape.matches('circle, rect')) continue;
        const [a, b] = [light(parse(getComputedStyle(e).fill)), light(parse(getComputedStyle(shape).fill))];
        const ratio = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
        if (ratio < 4.5) poor.push([ratio, e.outerHTML, shape.outerHTML]);
    }
    return poor;
}"""

//! Every plot with nothing, with one value, and with values that are no numbers.

use super::*;

fn all(values: &[f64]) -> Vec<Plot> {
    let named = |value: &f64| ("<q&>".to_owned(), *value);
    let points: Vec<(f64, f64)> = values.iter().enumerate().map(|(idx, value)| (idx as f64, *value)).collect();
    let series = |name: &str| Series { name: name.into(), points: points.clone() };
    let dots: Vec<Option<Dot>> =
        values.iter().map(|value| Some(Dot { value: *value, interval: Some([*value, value + 1.0]) })).collect();
    vec![
        Plot::Lines(Lines::new(Axis::linear("x"), Axis::linear("y"), vec![series("a"), series("<b>")])),
        Plot::Lines(Lines::new(Axis::log("x"), Axis::share("y"), vec![series("a")])),
        Plot::Bars(Bars {
            label: "gain".into(),
            bars: values.iter().map(|value| Bar { name: "<i>".into(), value: *value, shown: "x".into() }).collect(),
        }),
        Plot::Differences(Differences {
            label: "difference".into(),
            sides: ["a".into(), "b".into()],
            values: values.iter().map(named).collect(),
        }),
        Plot::Dots(Dots {
            y: Axis::linear("y"),
            label: "length".into(),
            groups: values.iter().map(|_| ["1-5".into(), "7".into()]).collect(),
            series: vec![("a".into(), dots.clone()), ("b".into(), dots)],
        }),
    ]
}

#[test]
fn no_value_one_value_and_values_that_are_none_can_be_drawn() {
    let cases: [&[f64]; 7] = [
        &[],
        &[0.0],
        &[0.25],
        &[f64::NAN],
        &[f64::INFINITY, -1.0],
        &[f64::MAX, f64::MIN],
        &[0.5, f64::NAN, -0.5, 1e-300],
    ];
    for values in cases {
        for plot in all(values) {
            for svg in [plot.to_svg("title"), plot.in_page(Width::Wide, "x"), plot.in_page(Width::Narrow, "x")] {
                assert!(!svg.contains("NaN") && !svg.contains("inf"), "{values:?}: {svg}");
                assert!(!svg.contains("<b>") && !svg.contains("<i>") && !svg.contains("<q"), "{values:?}: {svg}");
                assert_eq!(svg.matches("<svg").count(), svg.matches("</svg>").count());
            }
            assert_eq!(plot.is_empty(), values.is_empty());
        }
    }
}

#[test]
fn a_file_has_its_own_colours_and_the_page_those_of_the_reader() {
    for plot in all(&[0.5, -0.25]) {
        let file = plot.to_svg("A <title>");
        assert!(!file.contains("var(") && file.contains("A &lt;title&gt;") && file.contains("xmlns"), "{file}");
        assert!(plot.in_page(Width::Wide, "x").contains("var(--"));
    }
}

#[test]
fn twenty_thousand_queries_are_a_small_picture() {
    let values: Vec<f64> = (0..20_000).map(|idx| 1.0 - f64::from(idx) / 10_000.0).collect();
    for plot in all(&values).into_iter().filter(|plot| !matches!(plot, Plot::Bars(_) | Plot::Dots(_))) {
        let svg = plot.in_page(Width::Wide, "x");
        assert!(svg.len() < 60_000, "{}", svg.len());
    }
}

#[test]
fn names_are_shown_under_the_pointer() {
    let plot = Differences {
        label: "d".into(),
        sides: ["a".into(), "b".into()],
        values: vec![("q<1>".into(), 0.5), ("q2".into(), -0.25)],
    };
    let svg = Plot::Differences(plot).in_page(Width::Wide, "x");
    assert!(svg.contains("<title>q&lt;1&gt;: +0.5000</title>") && svg.contains("q2: -0.2500"), "{svg}");
}
